"""What a server suggests to users of a released tree: items from ratings, and people from reports."""
