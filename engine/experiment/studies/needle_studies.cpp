// SPDX-License-Identifier: GPL-3.0-or-later
// Experiments that hide names in documents, and count the names that the model finds.
#include "engine/base/counted.h"
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
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::experiment {

namespace {

constexpr ExperimentField kNamedDocuments{"documents",
                                          forTranslation("Experiments", "Documents"),
                                          forTranslation("Experiments", "Each with one name"),
                                          "8",
                                          FieldKind::Number,
                                          2,
                                          kMostNeedles};

std::vector<double> shareSamples(std::int64_t yes, std::int64_t all) {
  std::vector<double> samples(static_cast<std::size_t>(all), 0.0);
  std::fill_n(samples.begin(), yes, 100.0);
  return samples;
}

NeedleOptions needleOptions(const ExperimentRequest& request, const ExperimentModel& model) {
  return {.documents = numberOf(request, "documents"),
          .hayWords = numbersOf(request, "hay"),
          .trials = request.repeats,
          .seed = request.seed,
          .seam = model.seam};
}

}  // namespace

namespace {

constexpr std::array kLocalityFields = {
    ExperimentField{"hay", forTranslation("Experiments", "Words of filler text"),
                    forTranslation("Experiments", "In each document, rounded to whole sentences"),
                    "0,20,40,60,80,120", FieldKind::Numbers, 0, 100'000},
    ExperimentField{
        "portions", forTranslation("Experiments", "Documents read together"),
        forTranslation(
            "Experiments",
            "Group sizes of attention locality, with one line for each; 0: all documents together"),
        "0,2,4", FieldKind::Numbers, 0, kMostNeedles},
    kNamedDocuments};
constexpr std::array kLocalityMeasures = {
    Measure{"good", forTranslation("Experiments", "good runs"), "%", 0, false, MetricKind::Share},
    Measure{"found", forTranslation("Experiments", "names found"), "%", 0, false, MetricKind::Share},
    Measure{"run_ms", forTranslation("Experiments", "whole run"), "ms", 1, true}};

void measureLocality(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
                     const std::stop_token& stop) {
  NeedleOptions options = needleOptions(result.request, model);
  options.portions = numbersOf(result.request, "portions");
  result.total = options.hayWords.size() * options.portions.size();
  Study study(result, model, report, stop);
  for (const std::int32_t words : options.hayWords) {
    for (const std::int32_t portion : options.portions) {
      const std::string line = groupName(portion);
      study.begin(counted(words, "word") + " of filler text, " + line);
      const NeedleRow row = study.needle(options, words, portion);
      if (row.firstFailure) study.remark(*row.firstFailure);
      std::vector<double> milliseconds;
      for (const double seconds : row.seconds.samples) milliseconds.push_back(kMilliseconds * seconds);
      study.addSamples(line, words, 0,
                       {shareSamples(row.good, row.trials),
                        shareSamples(row.found, std::int64_t{row.trials} * options.documents), milliseconds});
      study.step();
    }
  }
}

}  // namespace

const Experiment kLocalityStudy{
    .name = "locality",
    .title = forTranslation("Experiments", "Needles with attention locality"),
    .brief = forTranslation(
        "Experiments",
        "Names are hidden in more and more filler text. Does the model find more names in groups "
        "of k documents than in all documents together? The lists of the groups are combined."),
    .xName = forTranslation("Experiments", "words of filler text per document"),
    .fields = kLocalityFields,
    .measures = kLocalityMeasures,
    .repeats = 20,
    .measure = measureLocality};

namespace {

constexpr std::array kDepthFields = {
    ExperimentField{"hay", forTranslation("Experiments", "Words of filler text"),
                    forTranslation("Experiments", "In each document, rounded to whole sentences"),
                    "10,20,40,60,80,120", FieldKind::Numbers, 0, 100'000},
    ExperimentField{
        "portions", forTranslation("Experiments", "Documents read together"),
        forTranslation("Experiments",
                       "Group sizes of attention locality, with one map for each; 0: all documents together"),
        "0,2,4", FieldKind::Numbers, 0, kMostNeedles},
    ExperimentField{"depths", forTranslation("Experiments", "Depths"),
                    forTranslation("Experiments",
                                   "In percent: 0 means the first document, and 100 means the last document. "
                                   "Other values mean the nearest document"),
                    "0,25,50,75,100", FieldKind::Numbers, 0, 100},
    kNamedDocuments,
    ExperimentField{"policies", forTranslation("Experiments", "Policies"),
                    forTranslation("Experiments", "Maps for each"), "spans", FieldKind::Policies}};
constexpr std::array kDepthMeasures = {
    Measure{"found", forTranslation("Experiments", "names found"), "%", 0, false, MetricKind::Share}};

std::string lineOf(const std::vector<std::string>& policies, const std::string& policy,
                   std::int32_t portion) {
  const std::string line = groupName(portion);
  return policies.size() == 1 ? line : policy + ", " + line;
}

void measureDepth(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
                  const std::stop_token& stop) {
  constexpr double kWhole = 100;
  NeedleOptions options = needleOptions(result.request, model);
  options.portions = numbersOf(result.request, "portions");
  const std::vector<std::string> policies = policiesOf(result.request, "policies");
  const std::vector<std::int32_t> depths = numbersOf(result.request, "depths");
  result.total = options.hayWords.size() * options.portions.size() * policies.size();
  Study study(result, model, report, stop);
  for (const std::int32_t words : options.hayWords) {
    for (const std::string& policy : policies) {
      run::RunOptions chosen;
      usePolicy(chosen, policy);
      options.policy = chosen.policy;
      for (const std::int32_t portion : options.portions) {
        const std::string line = lineOf(policies, policy, portion);
        study.begin(counted(words, "word") + " of filler text, " + line);
        const NeedleRow row = study.needle(options, words, portion);
        if (row.firstFailure) study.remark(*row.firstFailure);
        for (const std::int32_t depth : depths) {
          const auto document =
              static_cast<std::size_t>(std::lround(depth * (options.documents - 1) / kWhole));
          study.addSamples(line, words, depth, {shareSamples(row.foundAt[document], row.trials)});
        }
        study.step();
      }
    }
  }
}

}  // namespace

const Experiment kDepthStudy{
    .name = "depth",
    .title = forTranslation("Experiments", "Needle by depth and length"),
    .brief = forTranslation("Experiments",
                            "Where in a long prompt is a name still found? Each document contains one name. "
                            "The model reads all documents together, or in groups of k. The lists of the "
                            "groups are then combined. "
                            "The map shows the length of the filler text and the depth of the name."),
    .xName = forTranslation("Experiments", /*id:words-of-hay*/ "words of filler text per document"),
    .yName = forTranslation("Experiments", "depth, %"),
    .fields = kDepthFields,
    .measures = kDepthMeasures,
    .repeats = 20,
    .measure = measureDepth};

namespace {

constexpr std::array kCroppingFields = {
    ExperimentField{
        "sizes", forTranslation("Experiments", "Block sizes"),
        forTranslation("Experiments", "Tokens per block. Tokens that do not fill a block are cropped"),
        "2,4,8,16,32", FieldKind::Numbers, 1, 1024},
    kNamedDocuments,
    ExperimentField{
        "portion", forTranslation("Experiments", "Documents read together"),
        forTranslation(
            "Experiments",
            "Each group of documents gives one list of names. The lists are truncated and combined"),
        "2", FieldKind::Number, 2, kMostNeedles},
    ExperimentField{"hay", forTranslation("Experiments", "Words of filler text"),
                    forTranslation("Experiments", "In each document, rounded to whole sentences"), "20",
                    FieldKind::Number, 0, 100'000}};
constexpr std::array kCroppingMeasures = {
    Measure{"found", forTranslation("Experiments", "names found"), "%", 0, false, MetricKind::Share},
    Measure{"good", forTranslation("Experiments", "good runs"), "%", 0, false, MetricKind::Share},
    Measure{"same", forTranslation("Experiments", "answers equal to those of the exact layout"), "%", 0,
            false, MetricKind::Share},
    Measure{"cropped", forTranslation("Experiments", "tokens cropped per run"), "tokens", 0},
    Measure{"added", forTranslation("Experiments", "tokens compared with exact"), "%", 1},
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

void measureCropping(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
                     const std::stop_token& stop) {
  const std::vector<std::int32_t> sizes = numbersOf(result.request, "sizes");
  NeedleOptions options = needleOptions(result.request, model);
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
      if (stop.stop_requested())
        throw Failure(errorAt(result.request.experiment, "The job was stopped.", {}));
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
    .title = forTranslation("Experiments", "Cost of truncated answers"),
    .brief = forTranslation(
        "Experiments",
        "Names are listed from groups of documents, and the lists are then combined. What is lost if answers "
        "are cropped to whole blocks? What do padding and delimiter tokens add?"),
    .xName = forTranslation("Experiments", "block size, tokens"),
    .isXLogarithmic = true,
    .fields = kCroppingFields,
    .measures = kCroppingMeasures,
    .repeats = 20,
    .measure = measureCropping};

}  // namespace spanscope::experiment
