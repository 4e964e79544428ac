"""What the readers and writers of other programs' files share: frames, names, XML, states in their orders."""
