// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/benchmark.h"

#include "engine/workbench/document/document_query.h"

#include <algorithm>

namespace spanscope::workbench {
namespace {

constexpr std::int32_t kShortest = 64;
constexpr std::int32_t kLongest = 4096;

}  // namespace

BenchmarkSubject benchmarkSubject(const document::Document& document, BenchmarkKind kind) {
  BenchmarkSubject subject;
  subject.settings =
      kind == BenchmarkKind::Lengths
          ? onlyThose(document.settings, {SettingEffect::Model, SettingEffect::Session})
          : onlyThose(document.settings, {SettingEffect::Model, SettingEffect::Session, SettingEffect::Plan,
                                          SettingEffect::Retrieval, SettingEffect::Run});
  if (kind == BenchmarkKind::Lengths) {
    // They bring a pool of the size that they need.
    subject.settings.blockCount = RunSettings().blockCount;
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
  if (state == JobState::Finished) return 1;
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

std::vector<std::int32_t> measurableLengths(std::int64_t contextLength) {
  const experiment::AbbaOptions usual;
  std::vector<std::int32_t> lengths;
  for (std::int32_t tokens = kShortest; tokens <= kLongest; tokens *= 2) {
    const std::int64_t prompt =
        usual.systemTokens + std::int64_t{usual.documents} * tokens + usual.questionTokens;
    if (prompt < contextLength) lengths.push_back(tokens);
  }
  return lengths;
}

}  // namespace spanscope::workbench
