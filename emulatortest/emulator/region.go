package emulator

import "fmt"

// Failover makes a region the one that takes the writes. Writes to the one before are 403/3 from then on, and the account document names the new
// one at once, where the service's reads of it disagree for minutes.
func (s *Service) Failover(region string) error {
	if !s.regions.Failover(region) {
		return fmt.Errorf("emulator: fail over to %q: the account has no such region", region)
	}
	return nil
}

// RemoveRegion takes a region out of the account: requests to its host are 403/1008 from then on.
func (s *Service) RemoveRegion(region string) error {
	if !s.regions.Remove(region) {
		return fmt.Errorf("emulator: remove the region %q: the account has no such region, or no other", region)
	}
	return nil
}
