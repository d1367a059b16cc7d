"""What a published table gives away, whoever made it."""
