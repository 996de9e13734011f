//! Events to state: fold, snapshots, timeline, drift, restore plan and its inverse. Pure and total.
