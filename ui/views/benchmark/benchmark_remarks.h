// SPDX-License-Identifier: GPL-3.0-or-later
// Remarks on the figures of a benchmark: what they are worth, and what was not measured.
#pragma once

#include "ui/views/benchmark/benchmark_model.h"

#include <vector>

namespace spanscope::ui {

/// Adds remarks on the benchmark as a whole: whether its figures belong to the present document, how it
/// ended, and which pool it used.
void addStateRemarks(const Benchmark& benchmark, const document::Document& document,
                     std::vector<BenchmarkRemark>& remarks);
/// Adds remarks on the cases: what follows from them, which cases are missing, and where answers differ.
void addCaseRemarks(const Benchmark& benchmark, const std::vector<experiment::CaseSummary>& cases,
                    std::vector<BenchmarkRemark>& remarks);
void addLengthRemarks(const Benchmark& benchmark, std::vector<BenchmarkRemark>& remarks);

/// "57×", "3.1×", "0.80×"
QString timesText(double factor);

}  // namespace spanscope::ui
