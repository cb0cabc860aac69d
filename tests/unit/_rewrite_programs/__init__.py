"""Programs as users write them: none of these modules knows of this package."""
