// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/base/translation.h"
#include "engine/cache/kv_cache.h"
#include "engine/experiment/needle.h"
#include "engine/experiment/studies/study.h"
#include "engine/layout/layouts.h"
#include "engine/metrics/token_account.h"
#include "engine/run/run_options.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::experiment {
namespace {

constexpr std::array kFields = {
    ExperimentField{
        "sizes", forTranslation("Experiments", "Block sizes"),
        forTranslation("Experiments", "Tokens per block. Tokens that do not fill a block are cropped"),
        "2,4,8,16,32", FieldKind::Numbers, 1, 1024},
    ExperimentField{"documents", forTranslation("Experiments", "Documents"),
                    forTranslation("Experiments", "Each with one name"), "8", FieldKind::Number, 2,
                    kMostNeedles},
    ExperimentField{
        "portion", forTranslation("Experiments", "Documents read together"),
        forTranslation("Experiments",
                       "Each group of documents gives one list of names. The lists are cropped and combined"),
        "2", FieldKind::Number, 2, kMostNeedles},
    ExperimentField{"hay", forTranslation("Experiments", "Words of filler text"),
                    forTranslation("Experiments", "In each document, rounded to whole sentences"), "20",
                    FieldKind::Number, 0, 100'000}};
constexpr std::array kMeasures = {
    Measure{"found", forTranslation("Experiments", "names found"), "%", 0, false, MetricKind::Share},
    Measure{"good", forTranslation("Experiments", "good runs"), "%", 0, false, MetricKind::Share},
    Measure{"same", forTranslation("Experiments", "answers as with the exact layout"), "%", 0, false,
            MetricKind::Share},
    Measure{"cropped", forTranslation("Experiments", "tokens cropped per run"), "tokens", 0},
    Measure{"added", forTranslation("Experiments", "tokens against exact"), "%", 1},
    Measure{"run_ms", forTranslation("Experiments", "whole run"), "ms", 1, true}};

/// The effect of layouts on the prompts of each run, and the answers.
class LayoutSink final : public trace::Sink {
 public:
  struct Ran {
    metrics::LayoutMetrics counts;
    std::string answer;
  };

  std::uint64_t send(RunId /*run*/, RequestId /*request*/, const NodePath& /*node*/,
                     trace::Payload payload) override {
    if (std::holds_alternative<trace::RunStarted>(payload)) {
      m_runs.emplace_back();
    } else if (auto* chosen = std::get_if<trace::LayoutChosen>(&payload)) {
      m_blockSize = chosen->blockSize;
    } else if (auto* table = std::get_if<trace::SpanTableLaidOut>(&payload)) {
      m_segments = std::move(table->segments);
    } else if (const auto* applied = std::get_if<trace::LayoutApplied>(&payload)) {
      m_runs.back().counts += metrics::layoutMetrics(*applied, m_segments, m_blockSize);
    } else if (auto* finished = std::get_if<trace::RunFinished>(&payload)) {
      m_runs.back().answer = std::move(finished->answer);
    }
    return ++m_sequence;
  }

  std::vector<Ran> take() { return std::exchange(m_runs, {}); }

 private:
  std::uint64_t m_sequence = 0;
  std::int32_t m_blockSize = 1;
  SharedList<trace::SegmentInfo> m_segments;
  std::vector<Ran> m_runs;
};

std::vector<double> shareSamples(std::int64_t yes, std::int64_t all) {
  std::vector<double> samples(static_cast<std::size_t>(all), 0.0);
  std::fill_n(samples.begin(), yes, 100.0);
  return samples;
}

/// Returns the configuration with another block size and a pool of about as many tokens.
run::SessionConfig withBlocksOf(run::SessionConfig config, std::int32_t blockSize) {
  const std::int64_t tokens = std::int64_t{config.blockSize} * config.blockCount;
  config.blockSize = blockSize;
  config.blockCount = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(tokens / blockSize + 1, cache::kMinBlockCount, cache::kMaxBlockCount));
  return config;
}

ExperimentPoint pointOf(const NeedleRow& row, std::int32_t documents,
                        const std::vector<LayoutSink::Ran>& runs,
                        const std::vector<LayoutSink::Ran>& exactRuns) {
  std::int64_t same = 0;
  std::vector<double> cropped;
  std::vector<double> added;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i < exactRuns.size() && runs[i].answer == exactRuns[i].answer) ++same;
    cropped.push_back(static_cast<double>(runs[i].counts.cropped));
    added.push_back(100 * runs[i].counts.added());
  }
  ExperimentPoint point;
  point.samples = {shareSamples(row.found, std::int64_t{row.trials} * documents),
                   shareSamples(row.good, row.trials),
                   shareSamples(same, static_cast<std::int64_t>(runs.size())),
                   std::move(cropped),
                   std::move(added),
                   {}};
  for (const double seconds : row.seconds.samples) point.samples.back().push_back(1000 * seconds);
  return point;
}

void measure(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
             const std::stop_token& stop) {
  const std::vector<std::int32_t> sizes = numbersOf(result.request, "sizes");
  NeedleOptions options;
  options.documents = numberOf(result.request, "documents");
  options.trials = result.request.repeats;
  options.seed = result.request.seed;
  options.seam = model.seam;
  result.total = sizes.size() * layout::layouts().size();
  for (const std::int32_t size : sizes) {
    LayoutSink sink;
    if (model.tally != nullptr) {
      for (const layout::LayoutInfo& info : layout::layouts()) {
        options.layout = info.layout;
        countNeedle(model, withBlocksOf(model.session, size), options, numberOf(result.request, "hay"),
                    numberOf(result.request, "portion"), stop);
        model.tally->step();
      }
      continue;
    }
    const std::unique_ptr<run::Session> session = model.open(withBlocksOf(model.session, size), sink);
    std::vector<LayoutSink::Ran> exactRuns;
    for (const layout::LayoutInfo& info : layout::layouts()) {
      if (stop.stop_requested()) throw Failure(errorAt(result.request.experiment, "a request to stop", {}));
      result.doing = "blocks of " + std::to_string(size) + ", layout " + info.name;
      report(result);
      options.layout = info.layout;
      const NeedleRow row = measureNeedle(*session, options, numberOf(result.request, "hay"),
                                          numberOf(result.request, "portion"), stop);
      std::vector<LayoutSink::Ran> runs = sink.take();
      if (info.layout == layout::Layout::Exact) exactRuns = runs;
      ExperimentPoint point = pointOf(row, options.documents, runs, exactRuns);
      point.series = info.name;
      point.x = static_cast<double>(size);
      result.points.push_back(std::move(point));
      if (row.firstFailure) result.remarks.push_back(*row.firstFailure);
      ++result.done;
      report(result);
    }
  }
}

}  // namespace

const Experiment kCroppingStudy{
    .name = "cropping",
    .title = forTranslation("Experiments", "Cropping against none"),
    .brief = forTranslation(
        "Experiments",
        "Names are listed from groups of documents, and the lists are then combined. What is lost if answers "
        "are cropped to whole blocks? What do padding and delimiter tokens add?"),
    .xName = forTranslation("Experiments", "block size, tokens"),
    .isXLogarithmic = true,
    .fields = kFields,
    .measures = kMeasures,
    .repeats = 20,
    .measure = measure};

}  // namespace spanscope::experiment
