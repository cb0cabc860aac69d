"""Running a plan over a chain: gradients, covers and Hessian products."""
