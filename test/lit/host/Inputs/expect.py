import numpy as np
y = np.float32([[0, 1, np.nan], [3, np.inf, 5]])
np.save("y.npy", y * np.float32(1 + 1e-6))
far = y.copy()
far[1, 2] = 5.001
np.save("far.npy", far)
np.save("shape.npy", y.reshape(3, 2))
np.save("i.npy", np.int64([2**53 + 1]))
np.save("other.npy", np.int64([2**53]))
