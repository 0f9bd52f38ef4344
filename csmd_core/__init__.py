"""Which tests should the next patient get?"""
