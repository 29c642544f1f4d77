def decode(*a, **k):
    raise NotImplementedError
