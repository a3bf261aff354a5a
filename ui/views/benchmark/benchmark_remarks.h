// SPDX-License-Identifier: GPL-3.0-or-later
// What is to be said beside the figures of a benchmark: what they are worth, and what was not measured.
#pragma once

#include "ui/views/benchmark/benchmark_model.h"

#include <vector>

namespace spanscope::ui {

/// Whether its figures are those of the document as it is, how it ended, and which pool it used.
void addStateRemarks(const Benchmark& benchmark, const document::Document& document,
                     std::vector<BenchmarkRemark>& remarks);
/// What may be concluded of the cases, which of them there are not, and where answers differ.
void addCaseRemarks(const Benchmark& benchmark, const std::vector<experiment::CaseSummary>& cases,
                    std::vector<BenchmarkRemark>& remarks);
void addLengthRemarks(const Benchmark& benchmark, std::vector<BenchmarkRemark>& remarks);

/// "57×", "3.1×", "0.80×"
QString timesText(double factor);

}  // namespace spanscope::ui
