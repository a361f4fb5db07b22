"""What tests share: helpers, none of which is a test."""
