"""Plotly figures of the core's results: one module for each page of the product."""
