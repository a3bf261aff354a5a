// SPDX-License-Identifier: GPL-3.0-or-later
// Benchmarks with set figures, so that what is said of them is always the same.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/session/benchmark.h"
#include "ui/session/experiment_run.h"

namespace spanscope::test {

/// Seven finished turns of a query with one step: cold, same order, swapped and floor, far apart.
ui::Benchmark sampleBenchmark(const document::Document& document);
/// Three lengths of documents, of which the last is not measured yet.
ui::Benchmark sampleLengths(const document::Document& document);

/// A finished experiment of four lines: time to first token of RAG, by policy, cold and with documents seen.
ui::ExperimentRun sampleExperiment();

}  // namespace spanscope::test
