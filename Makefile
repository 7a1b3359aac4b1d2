.DEFAULT_GOAL := help
.PHONY: help test race lint bench sample ci

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "%-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

test: ## run every test
	go test ./...

race: ## run every test with the race detector
	go test -race -timeout 30m ./...

lint: ## gofmt, go vet and the linters
	.ci/run format vet lint

bench: ## run every benchmark once
	.ci/run bench

sample: ## run the sample
	go run ./sample

ci: ## everything that must hold before a merge
	.ci/run
