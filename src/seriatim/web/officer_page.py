"""The officer's page."""

from __future__ import annotations

from fastapi import FastAPI

from seriatim.web.service import Service


def add_officer_page(app: FastAPI, service: Service) -> None:
    """Add the page."""
