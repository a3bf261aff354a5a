// SPDX-License-Identifier: GPL-3.0-or-later
// `spanq explain`. With --predict --as SERVER, the command predicts the cache hits of consecutive queries on
// that server.

#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/diagnostics.h"
#include "app/cli/input.h"
#include "app/cli/layout_lines.h"
#include "app/cli/option_values.h"
#include "app/cli/parameter_lines.h"
#include "app/cli/predicted_reuse.h"
#include "app/cli/query_inputs.h"
#include "app/cli/query_options.h"
#include "app/cli/run_printer.h"
#include "app/cli/terminal_output.h"
#include "engine/base/counted.h"
#include "engine/base/output_file.h"
#include "engine/plan/explain.h"
#include "engine/query/json/json.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/simulator/servers.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/trace_file.h"
#include "engine/workbench/servers/order_comparison.h"
#include "engine/workbench/servers/price_list.h"
#include "engine/workbench/servers/server_requests.h"
#include "engine/workbench/servers/simulator_prediction.h"
#include "engine/workbench/speed_records.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

struct SimulatorOptions {
  std::string server;                 ///< empty: no server
  std::optional<std::int32_t> slots;  ///< number of slots of llama-server
  std::optional<std::int32_t> chunk;  ///< value of --cache-reuse of llama-server
  std::string trace;                  ///< file for the trace of the simulated cache; empty: no file
  bool hasOrderNote = false;          ///< the best order is sent with a note
};

/// A prompt of a plan, and its cache hits.
struct SimulatorStep {
  StepIndex step = 0;
  std::int64_t prompt = 0;   ///< tokens
  bool holdsAnswer = false;  ///< has an unknown answer, which counts with the max length
  simulator::Answer answer;
  workbench::FoundRange found;  ///< range of hits over all simulated cases
  bool isExact() const { return found.isExact() && !holdsAnswer; }
};

class SimulatorPrediction {
 public:
  /// Opens the cache simulator with an empty cache. A block size in `options` is the block size of the
  /// server. Other settings of policy and pool have no effect. Throws Failure.
  SimulatorPrediction(const CLI::App& command, const PredictionOptions& options,
                      const SimulatorOptions& simulator);

  /// Works like ReusePrediction::use().
  void use(workbench::RunSettings settings);

  const simulator::Server& server() const { return *m_server; }

  /// The steps in sending order. Like requests to servers, `plan` is not distributed: otherwise the outer
  /// query would recompute the prompt of a subquery. Answers are not known before the run. Each answer counts
  /// as its expected number of unknown tokens. Nothing if this plan or an earlier plan cannot run, or after a
  /// stop. `queryJson`: the query of the plan, for the trace.
  std::optional<std::vector<SimulatorStep>> prediction(const plan::Plan& plan, const std::string& queryJson,
                                                       const std::stop_token& stop);
  /// Compares the written order, the best order and spans, for the last plan after the earlier plans.
  const workbench::OrderReuse& compared() const { return m_compared; }
  /// The trace so far, if the user requests a trace. Each query is a run.
  std::vector<trace::Event> events() const { return m_story->events(); }

  /// "vLLM 0.33.0, starting empty, without a size limit; steps as remote run sends them"
  std::string setting() const;
  /// The server and the steps as JSON. `steps` is null if there are no steps.
  nlohmann::ordered_json json(const plan::Plan& plan,
                              const std::optional<std::vector<SimulatorStep>>& steps) const;

 private:
  const simulator::Server* m_server;
  ReusePrediction m_prompts;
  std::int32_t m_maxTokens;  ///< limit of answers without another limit; 0: no limit
  std::unique_ptr<simulator::Simulator> m_simulator;
  std::optional<workbench::SimulatorCases> m_cases;  ///< cases of m_simulator
  std::size_t m_steps = 0;                           ///< steps so far
  std::optional<workbench::OrderComparison> m_comparison;
  workbench::OrderReuse m_compared;
  std::optional<workbench::SimulatedTrace> m_story;  ///< trace of m_simulator; nothing: no trace
};

constexpr const char* kAnswerNote =
    /*id:prompt-holds-a-reply*/ "  A prompt contains an answer. The answer counts with its max length.\n";
constexpr const char* kDoubtNote =
    "  ≈ not exact: the count depends on answer lengths, or on the order of concurrent requests\n";

/// Servers get the prompt as one text in the form of the chat template.
void makePlain(workbench::RunSettings& settings) {
  settings.policy = "prefix";
  settings.layout = "exact";
}

PredictionOptions plainPrompts(PredictionOptions options) {
  makePlain(options.session.settings);
  return options;
}

std::int64_t countOf(const SimulatorStep& step, simulator::Fate fate) {
  std::int64_t count = 0;
  for (const simulator::FateRun& run : step.answer.fates)
    if (run.fate == fate) count += run.count;
  return count;
}

struct SimulatorSums {
  std::int64_t prompt = 0;
  std::int64_t cached = 0;  ///< including relocated tokens, as in the table of the embedded cache
  std::int64_t relocated = 0;

  void add(const SimulatorStep& step) {
    prompt += step.prompt;
    const std::int64_t moved = countOf(step, simulator::Fate::Moved);
    cached += countOf(step, simulator::Fate::Found) + moved;
    relocated += moved;
  }
  std::int64_t computed() const { return prompt - cached; }
};

std::vector<std::string> cellsOf(std::string step, std::string node, const SimulatorSums& sums,
                                 bool isExact) {
  const std::string about = isExact ? "" : "≈ ";
  return {std::move(step),
          std::move(node),
          std::to_string(sums.prompt),
          about + std::to_string(sums.cached),
          std::to_string(sums.relocated),
          about + std::to_string(sums.computed())};
}

/// "hit: stored by an earlier request"
std::string whyText(const simulator::Server& server, simulator::Fate fate) {
  const char* const outcome = fate == simulator::Fate::Found   ? "hit: "
                              : fate == simulator::Fate::Moved ? "relocated hit: "
                                                               : "miss: ";
  return outcome + std::string(simulator::whyAt(server, fate));
}

std::string fateTable(const simulator::Server& server, const SimulatorStep& step) {
  TextTable table({{"tokens", TextTable::Align::Left}, {"count"}, {"why", TextTable::Align::Left}});
  for (const simulator::FateRun& run : step.answer.fates) {
    table.addRow({std::to_string(run.begin) + "–" + std::to_string(run.begin + run.count - 1),
                  std::to_string(run.count), whyText(server, run.fate)});
  }
  return table.text();
}

/// Adds --as, --slots and --cache-reuse. --as implies a prediction.
void addSimulatorOptions(CLI::App& command, SimulatorOptions& options) {
  const char* const group = "Predicted reuse";
  CLI::Option* as = command.add_option("--as", options.server, "Predict the cache hits on this server");
  as->check(oneOf(simulator::serverNames()))->group(group);
  addNumber(command, "--slots", options.slots,
            "Slots of llama-server (-np). Default: four slots with a shared cache",
            Range<std::int32_t>{1, 4096})
      ->needs(as)
      ->group(group);
  addNumber(command, "--cache-reuse", options.chunk,
            "Min length of a token sequence that llama-server relocates (default: off)",
            Range<std::int32_t>{0, 1 << 20})
      ->needs(as)
      ->group(group);
  command
      .add_flag("--order-note", options.hasOrderNote,
                "For the best order, also count the message with the written order (remote run --order-note)")
      ->needs(as)
      ->group(group);
  command
      .add_option("--trace", options.trace,
                  "Record the events of the simulated cache to this trace file, one run per query")
      ->needs(as)
      ->group(group);
}

/// An option that --as cannot use, or only with one server.
struct UnusedOption {
  const char* name;
  const char* server;  ///< the only server that uses the option; empty: none uses it
};

/// Servers get each prompt as one text. Policy, layout, adapter and type of keys do not change this text, and
/// the answer of a subquery is always a text, too.
constexpr UnusedOption kUnusedOptions[] = {
    {"--policy", ""},  {"--layout", ""}, {"--no-distribute", ""},  {"--output-form", ""},
    {"--adapter", ""}, {"--kv", ""},     {"--slots", "llama.cpp"}, {"--cache-reuse", "llama.cpp"}};

/// Refuses options that would have no effect. Throws the same errors as refuseOption().
void checkSimulatorOptions(const CLI::App& command, const SimulatorOptions& options) {
  if (options.server.empty()) return;
  const std::string as = "--as " + options.server;
  for (const UnusedOption& unused : kUnusedOptions) {
    if (command.count(unused.name) == 0 || options.server == unused.server) continue;
    refuseOption(as, unused.name,
                 *unused.server == '\0'
                     ? /*id:no-effect-with-as*/ "only options that change the requests to a server"
                     : std::string("--as ") + unused.server);
  }
  if (options.server == "llama.cpp" && command.count("--block-size") > 0)
    refuseOption(as, "--block-size", "--as vllm or --as sglang");
}

SimulatorPrediction::SimulatorPrediction(const CLI::App& command, const PredictionOptions& options,
                                         const SimulatorOptions& simulator)
    : m_server(simulator::findServer(simulator.server)),
      m_prompts(plainPrompts(options)),
      m_maxTokens(options.session.settings.maxTokens) {
  const bool hasBlockSize = command.get_option("--block-size")->count() > 0;
  const simulator::Settings settings{.cacheTokens = 0,
                                     .blockSize = hasBlockSize ? options.session.settings.blockSize : 0,
                                     .slots = simulator.slots.value_or(0),
                                     .chunk = simulator.chunk.value_or(0)};
  m_simulator = m_server->open(settings);
  m_cases.emplace(*m_simulator);
  m_comparison.emplace(*m_simulator, workbench::SpanCache(), simulator.hasOrderNote);
  if (simulator.trace.empty()) return;
  // The prompts have the tokenizer of this object.
  m_story.emplace(workbench::SimulatedTraceTitle{.server = m_server,
                                                 .name = m_server->title,
                                                 .setup = m_server->setup(settings),
                                                 .model = modelDirectory(options.session).string(),
                                                 .atOnce = remote::kStandardAtOnce},
                  *m_simulator,
                  std::shared_ptr<const text::Tokenizer>(std::shared_ptr<void>(), &m_prompts.tokenizer()));
}

void SimulatorPrediction::use(workbench::RunSettings settings) {
  makePlain(settings);
  m_maxTokens = settings.maxTokens;
  m_prompts.use(settings);
}

std::optional<std::vector<SimulatorStep>> SimulatorPrediction::prediction(const plan::Plan& plan,
                                                                          const std::string& queryJson,
                                                                          const std::stop_token& stop) {
  const auto predicted = m_prompts.predict(plan, stop);
  if (!predicted || predicted->stopped || predicted->error) return std::nullopt;
  std::vector<SimulatorStep> steps;
  std::vector<workbench::ServerPrompt> prompts;
  for (const StepIndex index : predicted->order) {
    const auto found = std::ranges::find_if(
        predicted->steps, [index](const run::StepPrediction& step) { return step.step == index; });
    if (found == predicted->steps.end()) continue;
    // A server gets the prompt as one sequence. This policy and layout describe such a prompt.
    if (found->table.segments.size() != 1 || found->table.segments.front().tokens.empty()) continue;
    const plan::Step& step = plan.steps[index];
    workbench::ServerPrompt& prompt = prompts.emplace_back(
        workbench::ServerPrompt{.name = {step.node, step.copy}, .table = found->table, .ply = step.ply});
    prompt.mostAnswerTokens = step.maxTokens.value_or(0) > 0 ? *step.maxTokens : m_maxTokens;
    prompt.answerTokens = workbench::expectedAnswer(prompt.mostAnswerTokens, m_steps + prompts.size());
    const std::vector<TokenId>& tokens = prompt.tokens();
    prompt.holdsAnswer = std::ranges::any_of(tokens, run::isUnknown);
    steps.push_back({.step = index,
                     .prompt = static_cast<std::int64_t>(tokens.size()),
                     .holdsAnswer = prompt.holdsAnswer,
                     .answer = {},
                     .found = {}});
  }
  constexpr std::size_t kAtOnce = remote::kStandardAtOnce;
  std::vector<simulator::Answer> answers =
      m_story ? m_story->serve(queryJson, prompts) : workbench::answersOf(*m_simulator, prompts, kAtOnce);
  const std::vector<workbench::FoundRange> found = m_cases->serve(prompts, answers, kAtOnce, stop).prompts;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].found = found[i];
    steps[i].answer = std::move(answers[i]);
  }
  m_steps += prompts.size();
  m_compared = m_comparison->serve(plan, m_prompts.tokenizer(), m_prompts.chat(), m_maxTokens, kAtOnce);
  return steps;
}

std::string SimulatorPrediction::setting() const {
  return std::string(m_server->title) + " " + m_server->version +
         /*id:empty-first-much*/
         ", empty at first, without a size limit; steps are sent like those of spanq remote run";
}

/// Lines of text, each ended by a newline.
std::string simulatorText(const simulator::Server& server, const plan::Plan& plan,
                          const std::optional<std::vector<SimulatorStep>>& steps) {
  if (!steps) return /*id:not-foretold-query*/ "  not predicted: the query cannot run\n";
  if (steps->empty()) return "  The query generates nothing, so there is no prompt.\n";
  TextTable table(
      {{"step"}, {"node", TextTable::Align::Left}, {"prompt"}, {"cached"}, {"relocated"}, {"computed"}});
  SimulatorSums all;
  bool holdsAnswer = false;
  bool isExact = true;
  for (const SimulatorStep& step : *steps) {
    SimulatorSums sums;
    sums.add(step);
    all.add(step);
    table.addRow(cellsOf(std::to_string(step.step), stepName(plan, step.step), sums, step.isExact()));
    holdsAnswer = holdsAnswer || step.holdsAnswer;
    isExact = isExact && step.isExact();
  }
  if (steps->size() > 1) table.addRow(cellsOf("", "in all", all, isExact));
  const std::string note = std::string(holdsAnswer ? kAnswerNote : "") + (isExact ? "" : kDoubtNote);
  std::string text = table.text() + note;
  for (const SimulatorStep& step : *steps) {
    text += "  Tokens of step " + std::to_string(step.step) + ": " + stepName(plan, step.step) + "\n";
    text += fateTable(server, step);
  }
  return text;
}

/// A way to send the prompts of a query, and its cached tokens.
struct SendingWay {
  const char* name;
  const char* key;
  std::int64_t workbench::OrderReuse::*cached;
  bool hasNotes = false;  ///< the prompts have the notes

  std::int64_t computedOf(const workbench::OrderReuse& reuse) const {
    return reuse.prompt + (hasNotes ? reuse.noteTokens : 0) - reuse.*cached;
  }
};
constexpr SendingWay kSendingWays[] = {{"as written", "as_written", &workbench::OrderReuse::asWritten},
                                       {"best order", "best_order", &workbench::OrderReuse::best, true},
                                       {"as spans", "as_spans", &workbench::OrderReuse::asSpans}};

/// The known speed and prices of a server. Nothing: not measured, or not in the table of prices.
struct ServerRates {
  std::optional<experiment::SpeedSample> speed;
  std::optional<workbench::TokenPrice> price;

  std::optional<double> secondsFor(std::int64_t computed) const {
    if (!speed || speed->promptTokens == 0) return std::nullopt;
    return static_cast<double>(computed) * speed->promptSeconds / static_cast<double>(speed->promptTokens);
  }
};

/// Compares three ways to send the prompts. Empty: no prompt has a plus with two children.
std::string orderTable(const workbench::OrderReuse& reuse, const ServerRates& rates,
                       const remote::NodeNames& names) {
  if (!reuse.hasChoice) return {};
  std::vector<TextTable::Column> columns{
      {"children of each plus", TextTable::Align::Left}, {"cached"}, {"computed"}};
  if (rates.speed) columns.push_back({"prompt s"});
  if (rates.price) columns.push_back({"prompt price"});
  TextTable table(std::move(columns));
  for (const SendingWay& way : kSendingWays) {
    const std::int64_t cached = reuse.*way.cached;
    const std::int64_t computed = way.computedOf(reuse);
    std::vector<std::string> cells{way.name, std::to_string(cached), std::to_string(computed)};
    if (rates.speed) cells.push_back(fixed(rates.secondsFor(computed).value_or(0), 3));
    if (rates.price) cells.push_back(workbench::priceText(rates.price->ofPrompt(computed, cached)));
    table.addRow(std::move(cells));
  }
  std::string text = table.text();
  for (const remote::SentChildren& sent : reuse.sent)
    if (!sent.empty()) text += "  best order: " + remote::childrenText(sent, names) + "\n";
  if (!reuse.isExact) text += "  a better order may exist\n";
  if (reuse.noteTokens > 0)
    text += "  note about the written order: " + counted(reuse.noteTokens, "token") + "\n";
  if (!rates.speed) text += "  time: not measured; spanq remote run measures the speed of a server\n";
  return text;
}

nlohmann::ordered_json orderJson(const workbench::OrderReuse& reuse, const ServerRates& rates) {
  nlohmann::ordered_json json{
      {"prompt_tokens", reuse.prompt}, {"is_exact", reuse.isExact}, {"order_line_tokens", reuse.noteTokens}};
  json["orders"] = reuse.orders;
  for (const SendingWay& way : kSendingWays) {
    const std::int64_t cached = reuse.*way.cached;
    nlohmann::ordered_json& entry = json[way.key];
    entry["cached_tokens"] = cached;
    const std::int64_t computed = way.computedOf(reuse);
    if (const auto seconds = rates.secondsFor(computed)) entry["prompt_seconds"] = *seconds;
    if (rates.price) entry["prompt_price"] = rates.price->ofPrompt(computed, cached);
  }
  return json;
}

nlohmann::ordered_json SimulatorPrediction::json(
    const plan::Plan& plan, const std::optional<std::vector<SimulatorStep>>& steps) const {
  using Json = nlohmann::ordered_json;
  Json json{{"server", m_server->name}, {"version", m_server->version}, {"steps", nullptr}};
  if (!steps) return json;
  Json rows = Json::array();
  for (const SimulatorStep& step : *steps) {
    Json runs = Json::array();
    for (const simulator::FateRun& run : step.answer.fates)
      runs.push_back({{"begin", run.begin}, {"count", run.count}, {"fate", simulator::fateName(run.fate)}});
    rows.push_back({{"step", step.step},
                    {"node", plan.steps[step.step].node},
                    {"prompt", step.prompt},
                    {"cached", step.answer.cached},
                    {"refused", step.answer.isRefused},
                    {"holds_reply", step.holdsAnswer},
                    {"exact", step.isExact()},
                    {"cached_least", step.found.least},
                    {"cached_most", step.found.most},
                    {"tokens", std::move(runs)}});
  }
  json["steps"] = std::move(rows);
  return json;
}

struct ExplainCommandOptions {
  std::vector<std::string> files;
  QueryOptionTexts query;
  PredictionOptions prediction;
  SimulatorOptions simulator;
  bool trees = false;
  bool json = false;
  bool dot = false;
  const CLI::App* command = nullptr;
};

/// Adds one entry to the JSON object of `explain`.
std::string withEntry(const std::string& explained, const char* name, nlohmann::ordered_json value) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(explained);
  json[name] = std::move(value);
  return jsonText(json) + "\n";
}

/// Measures text in tokens of this tokenizer, which must outlive the measure.
plan::TextMeasure tokensOf(const text::Tokenizer& tokenizer) {
  return {.count = [&tokenizer](
                       std::string_view text) { return static_cast<std::uint64_t>(tokenizer.count(text)); },
          .unit = "token"};
}

class ExplainCommand {
 public:
  ExplainCommand(const Context& context, const ExplainCommandOptions& options)
      : m_context(context), m_streams(context.streams), m_options(options) {}

  ExitCode run() {
    ExitCode code = ExitCode::Fine;
    QueryOptions given = queryOptions(m_options.query);
    given.plan.recordTrees = !m_options.dot;
    given.plansWithoutLocality = true;
    retrieveWith(given, m_options.query, m_context, m_options.prediction.session.settings.model);
    const CommandSettings settings(*m_options.command, m_options.prediction.session.settings,
                                   m_options.query.settings);
    const std::vector<InputFile> files = readInputFiles(m_options.files, m_streams);
    openPrediction(settings, files);
    std::optional<OutputFile> trace;
    if (!m_options.simulator.trace.empty()) {
      trace.emplace(m_options.simulator.trace, OutputRules{.inputs = m_options.query.book->files,
                                                           .unfinished = m_streams.unfinished,
                                                           .stop = m_context.stop});
    }
    for (const InputFile& file : files) {
      settings.checkServer(file);
      const workbench::RunSettings own = settings.of(file);
      if (m_prediction) m_prediction->use(own);
      if (m_prediction && !file.settings && !m_isPolicyNoted && m_options.command->count("--policy") == 0) {
        noteUsualPolicy(m_streams.err, own);
        m_isPolicyNoted = true;
      }
      if (m_simulator) m_simulator->use(own);
      QueryOptions asked = withSettings(given, m_options.query, own);
      // Predicts hits in the requests that the server would get (exports::chatRequests).
      if (m_simulator) {
        asked.plan.distribute = false;
        asked.plan.outputForm = plan::OutputForm::Recomputed;
      }
      const auto planned = planText(file.name, file.text, asked, m_streams);
      if (!planned) {
        code = ExitCode::WrongInput;
      } else if (!explainOne(file.name, *planned)) {
        return ExitCode::Stopped;
      }
    }
    warnOfUnused(given, m_streams);
    if (trace) {
      trace->write(trace::traceBytes(m_simulator->events(), {.program = traceHeader().program}));
      trace->commit();
    }
    return code;
  }

 private:
  /// The speed and prices of the simulated kind of server.
  ServerRates rates() const {
    const std::string& server = m_options.simulator.server;
    return {.speed = workbench::SpeedRecords(m_streams.paceFile).findServer(server),
            .price = workbench::PriceList(workbench::standardPricesFile()).find(server)};
  }

  /// Predicts hits in this program's own cache.
  bool isPredicted() const { return m_options.prediction.isWanted && m_options.simulator.server.empty(); }

  /// Uses the model and cache of the documents, like `spanq run`. Options override model and cache.
  void openPrediction(const CommandSettings& settings, const std::vector<InputFile>& files) {
    PredictionOptions prediction = m_options.prediction;
    if (prediction.isWanted || prediction.layouts) {
      prediction.session.settings = settings.ofSession(files);
      prediction.session.check();
    }
    if (isPredicted() || prediction.layouts) m_prediction.emplace(prediction);
    if (!m_options.simulator.server.empty())
      m_simulator.emplace(*m_options.command, prediction, m_options.simulator);
    if (!m_options.dot) m_tokenizer = text::loadTokenizer(modelDirectory(prediction.session));
  }

  /// Returns false after a stop.
  bool explainOne(const std::string& file, const PlannedFile& planned) {
    plan::ExplainOptions explain;
    explain.eachTree = m_options.trees;
    if (m_tokenizer != nullptr) explain.measure = tokensOf(*m_tokenizer);
    if (planned.made.planWithoutLocality) explain.withoutLocality = &*planned.made.planWithoutLocality;
    const plan::Plan& plan = planned.plan();
    std::optional<run::Prediction> predicted;
    if (isPredicted()) predicted = m_prediction->predict(plan, m_context.stop);
    if (predicted && predicted->stopped) return false;
    std::optional<std::vector<SimulatorStep>> found;
    if (m_simulator) {
      found = m_simulator->prediction(plan, query::writeCanonical(planned.query()), m_context.stop);
      if (m_context.stop.stop_requested()) return false;
    }
    std::optional<experiment::LayoutComparison> layouts;
    if (m_options.prediction.layouts) {
      layouts = m_prediction->compareLayouts(plan, m_context.stop);
      if (!layouts) return false;
    }

    const std::vector<query::ParameterInfo>& parameters = planned.parameters;
    std::ostream& out = m_streams.out;
    if (m_options.json) {
      std::string json = plan::explainJson(plan, explain);
      if (!parameters.empty())
        json = withEntry(json, "parameters", parametersJson(parameters, planned.values));
      if (isPredicted())
        json = withEntry(json, "prediction", predictionJson(plan, predicted, m_prediction->blockSize()));
      if (m_simulator) {
        nlohmann::ordered_json predictedOn = m_simulator->json(plan, found);
        if (found && m_simulator->compared().hasChoice)
          predictedOn["orders"] = orderJson(m_simulator->compared(), rates());
        json = withEntry(json, "simulator", std::move(predictedOn));
      }
      if (layouts) json = withEntry(json, "layouts", layoutsJson(*layouts));
      out << json;
    } else if (m_options.dot) {
      out << plan::explainGraph(plan);
    } else {
      if (m_options.files.size() > 1) out << "── " << inputName(file) << '\n';
      out << parameterTable(parameters, planned.values) << plan::explain(plan, explain);
      if (layouts) out << "Layouts: policy " << m_prediction->policy() << '\n' << layoutTable(*layouts);
      if (m_simulator) {
        out << "On " << m_simulator->setting() << '\n' << simulatorText(m_simulator->server(), plan, found);
        if (found)
          out << orderTable(m_simulator->compared(), rates(),
                            workbench::fileNames(*planned.made.queryAfter(workbench::Stage::Parameters)));
      }
      if (isPredicted()) {
        out << "Predicted reuse: " << m_prediction->setting() << '\n'
            << predictionText(plan, predicted, m_prediction->blockSize(),
                              m_options.prediction.why ? &m_prediction->tokenizer() : nullptr);
      }
    }
    return true;
  }

  const Context& m_context;
  const Streams& m_streams;
  const ExplainCommandOptions& m_options;
  std::optional<ReusePrediction> m_prediction;
  std::optional<SimulatorPrediction> m_simulator;
  bool m_isPolicyNoted = false;                  ///< standard error has the reason for the policy
  std::unique_ptr<text::Tokenizer> m_tokenizer;  ///< measures prompts
};

}  // namespace

void addExplain(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("explain", "Show the rewritten queries and their steps");
  command->footer(
      R"(Examples:
  spanq explain resources/queries/judge-2.json
  spanq explain --no-distribute resources/queries/judge-2.json
  spanq explain --locality 2 --rule distribute-plus=off resources/queries/judge-4.json
  spanq explain --predict resources/queries/rag.json resources/queries/rag-swapped.json
  spanq explain --why resources/queries/rag.json resources/queries/rag-swapped.json
  spanq explain --predict --as vllm resources/queries/rag.json resources/queries/rag-swapped.json
  spanq explain --layouts resources/queries/rag.json
  spanq explain --dot resources/queries/judge-2.json | dot -Tsvg >plan.svg

)"
      "A query file (.span) is planned with its own settings. Options override these settings.\n");
  const auto options = std::make_shared<ExplainCommandOptions>();
  options->command = command;
  command->add_option("FILE", options->files, kQueryFilesHelp)->required();
  addPlanOptions(*command, options->query);
  CLI::Option* trees = command->add_flag("--trees", options->trees,
                                         "Show the whole tree before and after every rewrite round");
  CLI::Option* json = command->add_flag("--json", options->json, "Write a JSON object for each query");
  CLI::Option* dot = command->add_flag("--dot", options->dot, "Write steps and prompts as a Graphviz graph")
                         ->excludes(json)
                         ->excludes(trees);
  addPredictionOptions(*command, options->prediction);
  addSimulatorOptions(*command, options->simulator);
  dot->excludes(command->get_option("--predict"))
      ->excludes(command->get_option("--why"))
      ->excludes(command->get_option("--layouts"))
      ->excludes(command->get_option("--as"));
  command->get_option("--why")->excludes(command->get_option("--as"));

  command->callback([&context, options, command] {
    // --as implies a prediction.
    options->prediction.isWanted = options->prediction.isWanted || !options->simulator.server.empty();
    checkPredictionOptions(*command, options->prediction);
    checkSimulatorOptions(*command, options->simulator);
    options->prediction.session.check();
    options->query.check();
    context.action = [&context, options] { return ExplainCommand(context, *options).run(); };
  });
}

}  // namespace spanscope::cli
