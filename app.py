"""CSMD Studio: which tests should the next patient get?  Run: streamlit run app.py"""

from pathlib import Path

import streamlit as st

from csmd_core.faults import BadInput
from studio import session, shell
from studio.store import StoreUnavailable
from studio.text import plain, show_faults


def main() -> None:
    """Draw the menu, the page that was asked for, and the sidebar."""
    # Before the menu, and no :material/…: such a favicon is fetched from an outside server.
    st.set_page_config(page_icon="🔬", layout="wide")
    here = Path(__file__).parent
    pages = [
        st.Page(path, title=title, icon=icon, default=path == "pages/home.py")
        for path, (title, icon) in shell.MENU.items()
        if (here / path).exists()
    ]
    page = st.navigation(pages)
    st.set_page_config(page_title=f"{page.title} · CSMD Studio")
    try:
        session.begin()
        shell.notices()
        try:
            page.run()
        finally:  # also when the page stops early
            session.keep_link()
            shell.sidebar()
    except StoreUnavailable as trouble:
        st.error(plain(trouble))
    except BadInput as bad:
        show_faults(bad.faults)


if __name__ == "__main__":  # processes of a local cluster import this script and run nothing
    main()
