// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/benchmark.h"

#include "engine/workbench/document/document_query.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <utility>

namespace spanscope::ui {

using experiment::RunCase;

namespace {

constexpr QLatin1String kQuery("query");
constexpr QLatin1String kLengths("lengths");

}  // namespace

BenchmarkSubject benchmarkSubject(const document::Document& document, BenchmarkKind kind) {
  using workbench::SettingEffect;
  BenchmarkSubject subject;
  subject.settings =
      kind == BenchmarkKind::Lengths
          ? workbench::onlyThose(document.settings, {SettingEffect::Model, SettingEffect::Session})
          : workbench::onlyThose(document.settings,
                                 {SettingEffect::Model, SettingEffect::Session, SettingEffect::Plan,
                                  SettingEffect::Retrieval, SettingEffect::Run});
  if (kind == BenchmarkKind::Lengths) {
    // They bring a pool of the size that they need.
    subject.settings.blockCount = document::RunSettings().blockCount;
    return subject;
  }
  if (document.root() == document::kNoNode) return subject;
  subject.query = document::toQuery(document, document::TakeOut::MutedAndFrozen).query;
  subject.parameters = document.parameters;
  subject.declarations = document.declarations;
  for (query::ParameterDeclaration& declaration : subject.declarations) declaration.description.clear();
  return subject;
}

std::size_t Benchmark::measuredLengths() const {
  return static_cast<std::size_t>(std::count_if(
      lengths.begin(), lengths.end(), [](const MeasuredLength& length) { return length.row.has_value(); }));
}

double Benchmark::progress() const {
  if (state == BenchmarkState::Finished) return 1;
  if (kind == BenchmarkKind::Lengths) {
    // A row takes about as long as all shorter ones together.
    double done = 0;
    double all = 0;
    for (const MeasuredLength& length : lengths) {
      all += length.documentTokens;
      if (length.row) done += length.documentTokens;
    }
    return all > 0 ? done / all : 0;
  }
  const auto cases = static_cast<double>(
      std::max<std::ptrdiff_t>(1, std::count(gaps.begin(), gaps.end(), experiment::CaseGap::None)));
  const double inTurn = static_cast<double>(runCase) / cases;
  return std::min(1.0, (turn + inTurn) / (repeats + 1.0));
}

QString benchmarkWish(const BenchmarkWish& wish) {
  return (wish.kind == BenchmarkKind::Query ? kQuery : kLengths) + QLatin1Char(':') +
         QString::number(wish.repeats);
}

std::optional<BenchmarkWish> readBenchmarkWish(const QString& text) {
  const QString kind = text.section(QLatin1Char(':'), 0, 0);
  bool isNumber = false;
  const int repeats = text.section(QLatin1Char(':'), 1).toInt(&isNumber);
  if ((kind != kQuery && kind != kLengths) || !isNumber || repeats < 1 || repeats > kMostRepeats)
    return std::nullopt;
  return BenchmarkWish{.kind = kind == kQuery ? BenchmarkKind::Query : BenchmarkKind::Lengths,
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
  if (benchmark.model.isEmpty()) return tr("Benchmark: getting ready");
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
