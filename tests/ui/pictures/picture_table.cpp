// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/pictures/picture_table.h"

#include "engine/jobs/attention_entropy.h"
#include "engine/jobs/benchmark.h"
#include "engine/jobs/experiment.h"
#include "engine/jobs/next_token.h"
#include "engine/jobs/policy_comparison.h"
#include "tests/ui/pictures/picture_scene.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "tests/ui/views/common/sample_benchmarks.h"
#include "tests/ui/views/common/sample_policies.h"
#include "tests/ui/views/common/twenty_documents.h"
#include "ui/export/view_picture.h"
#include "ui/views/next_token/next_token_model.h"
#include "ui/views/view.h"
#include "ui/window/window_picture.h"

#include <array>
#include <memory>

namespace spanscope::test {
namespace {

constexpr QSize kNarrow{400, 340};  // a dock at the side of a small window
constexpr QSize kWide{760, 520};    // and one that has room

/// Where another scene shows more of a view than the example does.
Scene sceneFor(const QString& view) {
  if (view == QLatin1String("attention")) return Scene::TwentyDocuments;
  for (const char* id : {"prediction", "output", "plan", "timeline"}) {
    if (view == QLatin1String(id)) return Scene::Steps;
  }
  if (view == QLatin1String("problems")) return Scene::Mistakes;
  if (view == QLatin1String("benchmark")) return Scene::Benchmark;
  if (view == QLatin1String("policies")) return Scene::Policies;
  if (view == QLatin1String("experiments")) return Scene::Experiment;
  if (view == QLatin1String("passages")) return Scene::Passages;
  if (view == QLatin1String("attention-entropy")) return Scene::Entropy;
  if (view == QLatin1String("next-token")) return Scene::NextTokens;
  return Scene::Example;
}

std::vector<Picture> makeTable() {
  std::vector<Picture> table{
      {QStringLiteral("canvas"), QStringLiteral("canvas"), {640, 480}},
      {QStringLiteral("canvas-wide"), QStringLiteral("canvas"), {1040, 640}},
      {QStringLiteral("canvas-20-documents"), QStringLiteral("canvas"), {900, 560}, Scene::TwentyCards},
      {QStringLiteral("block-table-20-documents"),
       QStringLiteral("block-table"),
       {760, 400},
       Scene::TwentyCards},
      {QStringLiteral("mask-20-documents"), QStringLiteral("mask"), {683, 467}, Scene::TwentyCards},
      {QStringLiteral("plan-steps"), QStringLiteral("plan"), {760, 520}, Scene::NotPrediction},
  };
  table.push_back(
      {QStringLiteral("benchmark-lengths"), QStringLiteral("benchmark"), {760, 420}, Scene::Lengths});
  for (const ui::ViewInfo& info : ui::viewTable()) {
    const bool isStrip = info.id == QLatin1String("scrubber");
    const Scene scene = sceneFor(info.id);
    table.push_back(
        {info.id + QStringLiteral("-narrow"), info.id, isStrip ? QSize(640, 64) : kNarrow, scene});
    table.push_back({info.id + QStringLiteral("-wide"), info.id, isStrip ? QSize(1240, 64) : kWide, scene});
  }
  return table;
}

ui::ExportItem itemOf(const Picture& picture, const ui::ViewInput& input) {
  if (picture.id == QLatin1String("canvas")) return ui::canvasItem(input, picture.size);
  for (const ui::ViewInfo& info : ui::viewTable()) {
    if (info.id == picture.id) return ui::exportItem(info, input, picture.size);
  }
  qFatal("there is no view \"%s\"", qPrintable(picture.id));
}

/// Alternatives of an answer whose divergences reach from below the scale to its end. At the fourth token the
/// most likely token differs.
std::vector<jobs::NextToken> alternativesOf(const ui::NextTokenModel& model) {
  constexpr std::array kDivergences{0.00002, 0.0004, 0.011, 1.3, 0.2, 0.00009, 0.03, 0.0};
  constexpr std::size_t kDifferent = 3;
  std::vector<jobs::NextToken> tokens;
  for (std::size_t i = 0; i < model.answerTokens; ++i) {
    const bool differs = i == kDifferent;
    jobs::NextToken& token = tokens.emplace_back();
    token.drawn = token.ownBest = 1;
    token.otherBest = differs ? 2 : 1;
    token.divergence = kDivergences[i % kDivergences.size()];
    token.alternatives = {
        {.token = 1, .text = model.texts[i].toStdString(), .own = 0.71, .other = differs ? 0.12 : 0.69},
        {.token = 2, .text = " Mira", .own = 0.18, .other = differs ? 0.644 : 0.19},
        {.token = 3, .text = " Nadia", .own = 0.062, .other = 0.1},
        {.token = 4, .text = " the", .own = 0.0031, .other = 0.0004}};
  }
  return tokens;
}

}  // namespace

const std::vector<Picture>& pictureTable() {
  static const std::vector<Picture> table = makeTable();
  return table;
}

std::size_t pictureIndex(const QString& name) {
  const std::vector<Picture>& table = pictureTable();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].name == name) return i;
  }
  qFatal("there is no picture \"%s\"", qPrintable(name));
}

ui::ViewInput sceneOf(Scene scene) {
  switch (scene) {
    case Scene::Example:
      return pictureScene();
    case Scene::TwentyCards:
      return twentyDocumentsScene();
    case Scene::Steps:
      return stepsScene();
    case Scene::Mistakes:
      return mistakenScene();
    case Scene::Passages:
      return passagesScene();
    case Scene::Entropy:
    case Scene::Experiment:
    case Scene::Benchmark:
    case Scene::Lengths:
    case Scene::Policies:
    case Scene::NextTokens:
    case Scene::NotPrediction:
    case Scene::TwentyDocuments:
      break;
  }
  if (scene == Scene::Benchmark || scene == Scene::Lengths) {
    ui::ViewInput input = pictureScene();
    if (scene == Scene::Lengths)
      setMeasured<jobs::BenchmarkJob>(input, sampleLengths(*input.document), workbench::JobState::Working);
    else
      setMeasured<jobs::BenchmarkJob>(input, sampleBenchmark(*input.document));
    return input;
  }
  if (scene == Scene::Entropy) {
    const ui::ViewInput input = pictureScene();
    return withResult<jobs::AttentionEntropyJob>(
        input, {.request = input.shownRequest()},
        {.rows = 8, .answerRows = 8, .layers = {2.9, 1.4, 0.7, 1.1}, .uniform = {4.4, 4.4, 4.4, 4.4}});
  }
  if (scene == Scene::NextTokens) {
    ui::ViewInput input = pictureScene();
    const ui::NextTokenModel model = ui::nextTokenModel(input, 0);
    return withResult<jobs::NextTokenJob>(input, model.choice, alternativesOf(model));
  }
  if (scene == Scene::Policies) {
    ui::ViewInput input = pictureScene();
    setMeasured<jobs::PolicyComparisonJob>(input, samplePolicies(*input.document));
    return input;
  }
  if (scene == Scene::Experiment) {
    ui::ViewInput input = pictureScene();
    setMeasured<jobs::ExperimentJob>(input, sampleExperiment());
    return input;
  }
  if (scene == Scene::NotPrediction) {
    ui::ViewInput input = stepsScene();
    input.prediction.newest = nullptr;
    return input;
  }
  ui::ViewInput input = twentyDocuments();
  input.selection.nodes = {input.nodeOf(1, "/g/input/cross/1/plus/12")};
  return input;
}

QImage renderPicture(const Picture& picture, const ui::ViewInput& input, ui::Scheme scheme) {
  return ui::renderItem(itemOf(picture, input), picture.size, ui::Theme(scheme));
}

QString pictureName(const Picture& picture, ui::Scheme scheme) {
  return picture.name + (scheme == ui::Scheme::Dark ? QStringLiteral("-dark") : QStringLiteral("-light"));
}

}  // namespace spanscope::test
