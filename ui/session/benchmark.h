// SPDX-License-Identifier: GPL-3.0-or-later
// What people read and write of benchmarks of documents.
#pragma once

#include "engine/experiment/repeat_run.h"
#include "engine/workbench/service/benchmark.h"

#include <QString>

#include <cstdint>
#include <optional>

namespace spanscope::ui {

using workbench::Benchmark;
using workbench::BenchmarkKind;
using workbench::BenchmarkSubject;
using workbench::benchmarkSubject;
using workbench::MeasuredLength;

inline constexpr std::int32_t kMostRepeats = 100;

/// What a person asks for, as the argument of the command "run.benchmark": "query:7", "lengths:3".
struct BenchmarkRequest {
  BenchmarkKind kind = BenchmarkKind::Query;
  std::int32_t repeats = 7;  ///< 1 … kMostRepeats
  bool operator==(const BenchmarkRequest&) const = default;
};
QString benchmarkRequest(const BenchmarkRequest& request);
/// Returns nothing if the text is no such argument.
std::optional<BenchmarkRequest> readBenchmarkRequest(const QString& text);

/// What the benchmark is doing now, in words: "Benchmark: turn 2 of 7, order swapped".
QString progressText(const Benchmark& benchmark);
/// "cold", "same order", "order swapped", "floor".
QString caseText(experiment::RunCase runCase);

}  // namespace spanscope::ui
