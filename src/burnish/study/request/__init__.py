"""What a user asks for: options and names in, a request in the catalogue's terms out."""
