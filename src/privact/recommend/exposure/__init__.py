"""ratings + neighbours -> items, by who was exposed to what."""
