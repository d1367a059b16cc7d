"""What serves in a browser or over HTTP: how connections are bounded and requests framed, and the desk."""
