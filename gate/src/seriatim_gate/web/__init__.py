"""The gate as a service: requests over HTTP, decided one after another, on disk before they are answered."""
