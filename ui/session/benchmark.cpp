// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/benchmark.h"

#include "ui/words/tr.h"

namespace spanscope::ui {

using experiment::RunCase;

namespace {

constexpr QLatin1String kQuery("query");
constexpr QLatin1String kLengths("lengths");

}  // namespace

QString benchmarkRequest(const BenchmarkRequest& request) {
  return (request.kind == BenchmarkKind::Query ? kQuery : kLengths) + QLatin1Char(':') +
         QString::number(request.repeats);
}

std::optional<BenchmarkRequest> readBenchmarkRequest(const QString& text) {
  const QString kind = text.section(QLatin1Char(':'), 0, 0);
  bool isNumber = false;
  const int repeats = text.section(QLatin1Char(':'), 1).toInt(&isNumber);
  if ((kind != kQuery && kind != kLengths) || !isNumber || repeats < 1 || repeats > kMostRepeats)
    return std::nullopt;
  return BenchmarkRequest{.kind = kind == kQuery ? BenchmarkKind::Query : BenchmarkKind::Lengths,
                          .repeats = repeats};
}

QString caseText(RunCase runCase) {
  switch (runCase) {
    case RunCase::Cold:
      return tr("cold");
    case RunCase::SameOrder:
      return tr("same order");
    case RunCase::Swapped:
      return tr("order swapped");
    case RunCase::Floor:
      return tr("floor");
  }
  return {};
}

QString progressText(const Benchmark& benchmark) {
  if (benchmark.model.empty()) return tr("Benchmark: preparing");
  if (benchmark.kind == BenchmarkKind::Query) {
    if (benchmark.turn == 0) return tr("Benchmark: warming up, %1").arg(caseText(benchmark.runCase));
    return tr("Benchmark: turn %1 of %2, %3")
        .arg(benchmark.turn)
        .arg(benchmark.repeats)
        .arg(caseText(benchmark.runCase));
  }
  for (const MeasuredLength& length : benchmark.lengths) {
    if (length.row) continue;
    return tr("Benchmark: documents of %1 tokens, %2 of %3")
        .arg(length.documentTokens)
        .arg(benchmark.measuredLengths() + 1)
        .arg(benchmark.lengths.size());
  }
  return tr("Benchmark");
}

}  // namespace spanscope::ui
