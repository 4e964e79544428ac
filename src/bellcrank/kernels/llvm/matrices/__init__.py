"""Dense algebra on matrices in memory: functions of a module, each written once, with their sizes as arguments."""
