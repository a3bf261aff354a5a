// SPDX-License-Identifier: GPL-3.0-or-later
// Benchmarks with fixed figures, so that views always say the same of them.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/session/measure_requests.h"

namespace spanscope::test {

/// Seven finished turns of a query with one step: cold, same order, swapped and floor, far apart.
ui::Benchmark sampleBenchmark(const document::Document& document);
/// Three lengths of documents. The last is not measured yet.
ui::Benchmark sampleLengths(const document::Document& document);

/// A finished experiment with four lines: the time to first token of RAG by policy, cold and with seen
/// documents.
experiment::ExperimentResult sampleExperiment();

}  // namespace spanscope::test
