"""Workspaces: where is my work, and who can open it?"""

import streamlit as st

from studio import known, session, shell, workspace_parts
from studio.private import private_switch

shell.header(
    "Workspaces",
    "Everything you do is saved as you go, in a workspace with a link of its own. "
    "Where is my work, and who can open it?",
)
workspace_parts.told()
held = session.workspace()
left, right = st.columns([3, 2], gap="large")
with left:
    st.subheader("This workspace")
    if held is None:
        st.info("Nothing to save yet: your first change creates a workspace and its link.")
    else:
        workspace_parts.present(held)
with right:
    st.subheader("What this server keeps")
    private_switch("workspaces private")
    st.subheader("Another one")
    workspace_parts.another()

st.subheader("Workspaces this browser knows")
workspace_parts.listed(known.ids(), held)
