"""All kernels that random schedules are drawn for, by name."""

import schedule_kernels
import schedule_models
import schedule_nests

KERNELS = schedule_kernels.KERNELS | schedule_nests.KERNELS | schedule_models.KERNELS
