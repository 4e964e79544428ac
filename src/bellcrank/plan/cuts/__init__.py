"""Which joints of loops are cut, by the operations that the blocks take."""
