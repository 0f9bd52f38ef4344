"""The app's own code: where workspaces are kept, and what all pages share."""
