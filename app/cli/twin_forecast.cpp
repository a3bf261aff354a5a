// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/twin_forecast.h"

#include "app/cli/number_option.h"
#include "app/cli/run_printer.h"
#include "app/cli/text_table.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/workbench/servers/twin_forecast.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace spanscope::cli {
namespace {

constexpr const char* kReplyNote = "  A prompt contains an answer. It counts with its max length.\n";
constexpr const char* kDoubtNote =
    "  ≈ not exact: the count depends on answer lengths, or on the order of requests that are sent at the "
    "same time\n";

/// A stock server gets a prompt as one text.
/// Servers get the prompt as the chat template writes it.
void makePlain(workbench::RunSettings& settings) {
  settings.policy = "prefix";
  settings.layout = "exact";
}

PredictionOptions plainPrompts(PredictionOptions options) {
  makePlain(options.session.settings);
  return options;
}

std::int64_t countOf(const TwinStep& step, twin::Fate fate) {
  std::int64_t count = 0;
  for (const twin::FateRun& run : step.answer.fates)
    if (run.fate == fate) count += run.count;
  return count;
}

struct TwinSums {
  std::int64_t prompt = 0;
  std::int64_t found = 0;
  std::int64_t moved = 0;

  void add(const TwinStep& step) {
    prompt += step.prompt;
    found += countOf(step, twin::Fate::Found);
    moved += countOf(step, twin::Fate::Moved);
  }
  std::int64_t computed() const { return prompt - found - moved; }
};

std::vector<std::string> cellsOf(std::string step, std::string node, const TwinSums& sums, bool isExact) {
  const std::string about = isExact ? "" : "≈ ";
  return {std::move(step),
          std::move(node),
          std::to_string(sums.prompt),
          about + std::to_string(sums.found),
          std::to_string(sums.moved),
          about + std::to_string(sums.computed())};
}

std::string fateTable(const TwinStep& step) {
  TextTable table({{"tokens", TextTable::Align::Left}, {"count"}, {"why", TextTable::Align::Left}});
  for (const twin::FateRun& run : step.answer.fates) {
    table.addRow({std::to_string(run.begin) + "–" + std::to_string(run.begin + run.count - 1),
                  std::to_string(run.count),
                  std::string(twin::fateName(run.fate)) + ": " + twin::fateSentence(run.fate)});
  }
  return table.text();
}

}  // namespace

void addTwinOptions(CLI::App& command, TwinOptions& options) {
  const char* const group = "Predicted reuse";
  CLI::Option* as =
      command.add_option("--as", options.server, "Predict what the cache of this server would reuse");
  as->check(CLI::IsMember(twin::serverNames()))->group(group);
  addNumber(command, "--slots", options.slots,
            "Slots of llama-server (-np). Default: four slots with a shared cache",
            Range<std::int32_t>{1, 4096})
      ->needs(as)
      ->group(group);
  addNumber(command, "--cache-reuse", options.chunk,
            "Min length of a run of tokens that llama-server relocates (default: off)",
            Range<std::int32_t>{0, 1 << 20})
      ->needs(as)
      ->group(group);
  command
      .add_option("--trace", options.trace,
                  "Record the events of the simulated cache to this trace file, one run per query")
      ->needs(as)
      ->group(group);
}

TwinForecast::TwinForecast(const CLI::App& command, const PredictionOptions& options, const TwinOptions& twin)
    : m_server(twin::findServer(twin.server)),
      m_prompts(plainPrompts(options)),
      m_maxTokens(options.session.settings.maxTokens) {
  const bool hasBlockSize = command.get_option("--block-size")->count() > 0;
  const twin::Settings settings{.cacheTokens = 0,
                                .blockSize = hasBlockSize ? options.session.settings.blockSize : 0,
                                .slots = twin.slots.value_or(0),
                                .chunk = twin.chunk.value_or(0)};
  m_twin = m_server->open(settings);
  m_cases.emplace(*m_twin);
  if (twin.trace.empty()) return;
  // The tokenizer is that of the prompts, which this object has.
  m_story.emplace(workbench::TwinStoryTitle{.server = m_server,
                                            .name = m_server->title,
                                            .setup = m_server->setup(settings),
                                            .model = modelDirectory(options.session).string(),
                                            .atOnce = remote::kStandardAtOnce},
                  *m_twin,
                  std::shared_ptr<const text::Tokenizer>(std::shared_ptr<void>(), &m_prompts.tokenizer()));
}

void TwinForecast::use(workbench::RunSettings settings) {
  makePlain(settings);
  m_maxTokens = settings.maxTokens;
  m_prompts.use(settings);
}

std::optional<std::vector<TwinStep>> TwinForecast::forecast(const plan::Plan& plan,
                                                            const std::string& queryJson,
                                                            const std::stop_token& stop) {
  const auto predicted = m_prompts.predict(plan, stop);
  if (!predicted || predicted->stopped || predicted->error) return std::nullopt;
  std::vector<TwinStep> steps;
  std::vector<workbench::ServerPrompt> prompts;
  for (const StepIndex index : predicted->order) {
    const auto found = std::find_if(predicted->steps.begin(), predicted->steps.end(),
                                    [index](const run::StepPrediction& step) { return step.step == index; });
    if (found == predicted->steps.end()) continue;
    // A stock server has the prompt as one sequence, as this policy and layout have it.
    if (found->table.segments.size() != 1 || found->table.segments.front().tokens.empty()) continue;
    const plan::Step& step = plan.steps[index];
    workbench::ServerPrompt& prompt = prompts.emplace_back(
        workbench::ServerPrompt{.name = {step.node, step.copy}, .table = found->table, .ply = step.ply});
    prompt.mostReplyTokens = step.maxTokens.value_or(0) > 0 ? *step.maxTokens : m_maxTokens;
    prompt.replyTokens = workbench::expectedReply(prompt.mostReplyTokens, m_steps + prompts.size());
    const std::vector<TokenId>& tokens = prompt.tokens();
    prompt.holdsReply = std::any_of(tokens.begin(), tokens.end(), run::isUnknown);
    steps.push_back({.step = index,
                     .prompt = static_cast<std::int64_t>(tokens.size()),
                     .holdsReply = prompt.holdsReply,
                     .answer = {},
                     .found = {}});
  }
  constexpr std::size_t kAtOnce = remote::kStandardAtOnce;
  std::vector<twin::Answer> answers =
      m_story ? m_story->serve(queryJson, prompts) : workbench::answersOf(*m_twin, prompts, kAtOnce);
  const std::vector<workbench::FoundRange> found = m_cases->serve(prompts, answers, kAtOnce, stop).prompts;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].found = found[i];
    steps[i].answer = std::move(answers[i]);
  }
  m_steps += prompts.size();
  return steps;
}

std::string TwinForecast::setting() const {
  return std::string(m_server->title) + " " + m_server->version +
         ", starting empty, without a size limit; steps as remote run sends them";
}

std::string twinText(const plan::Plan& plan, const std::optional<std::vector<TwinStep>>& steps) {
  if (!steps) return "  not predicted: the query cannot run\n";
  if (steps->empty()) return "  The query generates nothing, so there is no prompt.\n";
  TextTable table(
      {{"step"}, {"node", TextTable::Align::Left}, {"prompt"}, {"found"}, {"moved"}, {"computed"}});
  TwinSums all;
  bool holdsReply = false;
  bool isExact = true;
  for (const TwinStep& step : *steps) {
    TwinSums sums;
    sums.add(step);
    all.add(step);
    table.addRow(cellsOf(std::to_string(step.step), stepName(plan, step.step), sums, step.isExact()));
    holdsReply = holdsReply || step.holdsReply;
    isExact = isExact && step.isExact();
  }
  if (steps->size() > 1) table.addRow(cellsOf("", "in all", all, isExact));
  const std::string note = std::string(holdsReply ? kReplyNote : "") + (isExact ? "" : kDoubtNote);
  std::string text = table.text() + note;
  for (const TwinStep& step : *steps) {
    text += "  Tokens of step " + std::to_string(step.step) + ": " + stepName(plan, step.step) + "\n";
    text += fateTable(step);
  }
  return text;
}

nlohmann::ordered_json TwinForecast::json(const plan::Plan& plan,
                                          const std::optional<std::vector<TwinStep>>& steps) const {
  using Json = nlohmann::ordered_json;
  Json json{{"server", m_server->name}, {"version", m_server->version}, {"steps", nullptr}};
  if (!steps) return json;
  Json rows = Json::array();
  for (const TwinStep& step : *steps) {
    Json runs = Json::array();
    for (const twin::FateRun& run : step.answer.fates)
      runs.push_back({{"begin", run.begin}, {"count", run.count}, {"fate", twin::fateName(run.fate)}});
    rows.push_back({{"step", step.step},
                    {"node", plan.steps[step.step].node},
                    {"prompt", step.prompt},
                    {"cached", step.answer.cached},
                    {"refused", step.answer.isRefused},
                    {"holds_reply", step.holdsReply},
                    {"exact", step.isExact()},
                    {"cached_least", step.found.least},
                    {"cached_most", step.found.most},
                    {"tokens", std::move(runs)}});
  }
  json["steps"] = std::move(rows);
  return json;
}

}  // namespace spanscope::cli
