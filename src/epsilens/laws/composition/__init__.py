"""The privacy loss of many releases together: steps, their moments, and brackets that are proven."""
