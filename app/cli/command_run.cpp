// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/command_service.h"
#include "app/cli/diagnostics.h"
#include "app/cli/input.h"
#include "app/cli/layout_lines.h"
#include "app/cli/option_values.h"
#include "app/cli/query_inputs.h"
#include "app/cli/query_options.h"
#include "app/cli/run_printer.h"
#include "app/cli/session_options.h"
#include "app/cli/terminal_output.h"
#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/experiment/fidelity.h"
#include "engine/plan/explain.h"
#include "engine/policy/policies.h"
#include "engine/query/json/json.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/document/problems.h"
#include "engine/workbench/model_names.h"
#include "engine/workbench/retrieval.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/service/run_job.h"
#include "engine/workbench/setting_choices.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

constexpr int kMebibyteBits = 20;

struct Options {
  std::vector<std::string> files;
  QueryOptionTexts query;
  SessionOptions session;
  std::int32_t topK = 0;
  float topP = 1;
  std::string trace;
  bool fidelity = false;
  bool json = false;
  const CLI::App* command = nullptr;
};

/// The data of a planned query that a run needs.
struct PlannedRun {
  plan::Plan plan;
  std::string queryJson;  ///< canonical JSON of the planned query
  std::vector<run::RetrievalReport> retrieved;
  workbench::RunSettings settings;
};

struct Job {
  std::string file;
  std::shared_ptr<const PlannedRun> planned;
};

/// Plans that wait for their runs, perhaps thousands of plans. Equal plans are kept once.
class PlannedRuns {
 public:
  std::shared_ptr<const PlannedRun> keep(PlannedFile file, workbench::RunSettings settings) {
    PlannedRun planned{.plan = {},
                       .queryJson = query::writeCanonical(file.query()),
                       .retrieved = workbench::retrievalReports(file.made.retrieved, {}),
                       .settings = std::move(settings)};
    std::vector<std::shared_ptr<const PlannedRun>>& known = m_byQuery[planned.queryJson];
    for (const std::shared_ptr<const PlannedRun>& other : known) {
      // One query under one command and equal settings has one plan.
      const bool isSame =
          other->settings == planned.settings && other->retrieved.empty() && planned.retrieved.empty();
      if (isSame) return other;
    }
    planned.plan = std::move(*file.made.plan);
    known.push_back(std::make_shared<const PlannedRun>(std::move(planned)));
    return known.back();
  }

 private:
  std::map<std::string, std::vector<std::shared_ptr<const PlannedRun>>> m_byQuery;
};

ExitCode exitCodeOf(trace::RunOutcome outcome) {
  switch (outcome) {
    case trace::RunOutcome::Finished:
      return ExitCode::Fine;
    case trace::RunOutcome::Stopped:
      return ExitCode::Stopped;
    case trace::RunOutcome::Failed:
      break;
  }
  return ExitCode::RunFailed;
}

class RunCommand {
 public:
  /// `model`: the chosen model, if the model is already loaded.
  RunCommand(const Context& context, const Options& options, std::vector<Job> jobs,
             std::shared_ptr<workbench::ModelBundle> model)
      : m_context(context),
        m_options(options),
        m_jobs(std::move(jobs)),
        m_model(model != nullptr ? std::move(model)
                                 : std::make_shared<workbench::ModelBundle>(
                                       loadChosenModel(options.session, context.backends))),
        m_bundle(*m_model),
        m_service(context, {.model = m_model,
                            .session = options.session.config(),
                            .recorder = m_recorder,
                            .settings = options.session.settings,
                            .loadBeside = [this](const workbench::RunSettings& settings) {
                              SessionOptions session = m_options.session;
                              session.settings = settings;
                              return loadChosenModel(session, m_context.backends);
                            }}) {
    m_observed = options.session.settings.layers;
    if (m_observed == std::vector{kAllLayers}) {
      m_observed.resize(static_cast<std::size_t>(m_bundle.config.layers));
      std::iota(m_observed.begin(), m_observed.end(), 0);
    }
    for (const std::int32_t layer : m_observed) {
      if (layer < m_bundle.config.layers) continue;
      refuseOption(
          "--observe", std::to_string(layer),
          "a layer of " + m_bundle.name + ", from 0 to " + std::to_string(m_bundle.config.layers - 1));
    }
  }

  ExitCode run() {
    if (m_context.streams.endsByItself != nullptr) *m_context.streams.endsByItself = true;
    if (!startRecording()) return m_context.stop.stop_requested() ? ExitCode::Stopped : ExitCode::RunFailed;
    try {
      inSession([](run::Session&, const std::stop_token&) {});
    } catch (...) {
      // An empty recording must not replace an earlier recording.
      m_recorder->discardFile();
      throw;
    }

    ExitCode code = ExitCode::Fine;
    nlohmann::ordered_json runs = nlohmann::ordered_json::array();
    for (const Job& job : m_jobs) {
      code = runOne(job, runs);
      if (code != ExitCode::Fine) break;
    }
    if (m_options.json) writeJson(std::move(runs));
    m_context.streams.out.flush();
    keepBlocks();
    if (code == ExitCode::Fine && m_context.stop.stop_requested()) code = ExitCode::Stopped;
    if (const std::optional<Error> error = m_recorder->finishFile()) {
      m_context.streams.err << error->message() << '\n';
      if (code == ExitCode::Fine) code = ExitCode::RunFailed;
    }
    return code;
  }

 private:
  /// Call this before the session begins, so that the file has the session's first event.
  bool startRecording() {
    if (m_options.trace.empty()) return true;
    try {
      m_recorder->startFile(OutputFile(m_options.trace, traceRules()), traceHeader());
    } catch (const Failure& failure) {
      m_context.streams.err << failure.what() << '\n';
      return false;
    }
    return true;
  }

  OutputRules traceRules() const {
    OutputRules rules{.inputs = m_options.query.book->files,
                      .unfinished = m_context.streams.unfinished,
                      .stop = m_context.stop};
    for (const FileIdentity& file : modelFiles(m_bundle.checkpoint)) rules.inputs.push_back(file);
    if (const auto index = identityOf(m_options.query.retrieval.indexFile)) rules.inputs.push_back(*index);
    return rules;
  }

  /// Waits until the blocks of the runs are on the disk. A stop ends the wait. Reports a long wait, and
  /// errors.
  void keepBlocks() {
    constexpr std::chrono::seconds kLong(1);
    const auto begin = std::chrono::steady_clock::now();
    bool isSaid = false;
    std::ostream& err = m_context.streams.err;
    inSession([](run::Session& session, const std::stop_token& stop) { session.finishKeeping(stop); },
              [&] {
                if (!isSaid && std::chrono::steady_clock::now() - begin > kLong) {
                  isSaid = true;
                  err << "Writing blocks to " << m_options.session.config().store.folder.string()
                      << "; Ctrl+C ends the program before all blocks are written.\n"
                      << std::flush;
                }
              });
    std::vector<trace::Event> events;
    m_recorder->drain(events);
    for (const trace::Event& event : events) {
      const auto* message = std::get_if<trace::MessageLogged>(&event.payload);
      if (message != nullptr && message->severity != Severity::Note)
        err << severityName(message->severity) << message->text << '\n';
    }
  }

  /// Calls `does` with the session, and opens the session first if necessary. `look`: see CommandService.
  void inSession(std::function<void(run::Session&, const std::stop_token&)> does,
                 const std::function<void()>& look = {}) {
    const auto work = std::make_shared<workbench::FunctionJob>(
        [does = std::move(does)](workbench::JobContext& place, const std::stop_token& stop) {
          does(place.sessionFor({}), stop);
        });
    m_service.carryOut(work, look).rethrow();
  }

  /// Runs a plan and shows its events live.
  std::shared_ptr<workbench::RunJob> runLive(const Job& job, const run::RunOptions& options, RunPrinter& view,
                                             experiment::FinishedAnswers& gathered) {
    const std::shared_ptr<const plan::Plan> plan(job.planned, &job.planned->plan);
    const auto work = std::make_shared<workbench::RunJob>(
        job.planned->settings,
        workbench::RunJob::Preparation{.prepare = [&](workbench::JobContext&, const retrieve::Watch&) {
          return workbench::RunJob::Prepared{.plan = plan, .options = options};
        }});
    const workbench::JobHandle handle = m_service.carryOut(work, [&] {
      std::vector<trace::Event> events;
      m_recorder->drain(events);
      for (const trace::Event& event : events) {
        view.take(event);
        m_meters.take(event);
        if (m_options.fidelity) gathered.take(event);
      }
    });
    view.finish();
    if (!work->result()) handle.rethrow();
    return work;
  }

  ExitCode runOne(const Job& job, nlohmann::ordered_json& runs) {
    const Streams& streams = m_context.streams;
    const plan::Plan& plan = job.planned->plan;
    warnOfOtherModels(streams.err, inputName(job.file), plan, m_bundle.name,
                      workbench::stoodFor(job.planned->settings));
    if (!m_options.json) {
      if (m_jobs.size() > 1)
        streams.out << (&job == m_jobs.data() ? "" : "\n") << "── " << inputName(job.file) << '\n';
      for (const std::string& text : plan.printed) streams.out << text << '\n';
    }

    run::RunOptions options = workbench::runOptionsOf(job.planned->settings);
    options.topK = m_options.topK;
    options.topP = m_options.topP;
    options.observedLayers = m_observed;
    options.attentionDetail = workbench::attentionDetailOf(m_options.session.settings.attention);
    options.attentionBytes = std::uint64_t(m_options.session.settings.attentionMebibytes) << kMebibyteBits;
    options.retrieved = job.planned->retrieved;
    options.queryJson = job.planned->queryJson;
    options.explain = plan::explain(plan);
    RunPrinter view(streams, plan, m_options.json, inputName(job.file), m_options.session.config().blockSize);
    experiment::FinishedAnswers gathered;
    const std::shared_ptr<workbench::RunJob> work = runLive(job, options, view, gathered);
    // A run that was stopped before its begin has no result.
    run::RunResult result{.outcome = trace::RunOutcome::Stopped, .error = {}, .steps = {}, .answer = {}};
    if (work->result()) result = *work->result();

    std::vector<MeasuredStep> measured;
    bool isStopped = false;
    if (m_options.fidelity && result.outcome == trace::RunOutcome::Finished) {
      measured = measureAnswers(m_service, work->run(), gathered, m_context);
      isStopped = m_context.stop.stop_requested();
    }

    const std::vector<metrics::Totals> totals = view.totals(result, m_meters);
    if (m_options.json) {
      runs.push_back(runToJson(job.file, plan, result, view.spans(), view.loads(), totals));
      if (!isOneSetting()) writeSettings(runs.back()["settings"], job.planned->settings);
      if (options.layout != layout::Layout::Exact) runs.back()["layout"] = layoutJson(view.layoutMetrics());
      if (m_options.fidelity) runs.back()["fidelity"] = fidelityJson(plan, result, measured);
    } else {
      // A run that failed before its first step was admitted has nothing to summarize.
      const bool anyAdmitted =
          std::ranges::any_of(result.steps, [](const auto& step) { return step.metrics.promptTokens > 0; });
      if (anyAdmitted) {
        streams.out << '\n'
                    << stepTable(plan, result, totals) << "  " << reuseSummary(totals, view.spans()) << '\n';
        const std::string loaded = loadSummary(view.loads());
        if (!loaded.empty()) streams.out << "  " << loaded << '\n';
      }
      streams.out << "  policy " << options.policy.name() << layoutWords(options.layout) << " ("
                  << exactness(job.planned->settings) << ") on " << m_bundle.name << ", "
                  << m_bundle.backend->info().name << '\n';
      if (options.layout != layout::Layout::Exact)
        streams.out << "  " << metrics::layoutText(view.layoutMetrics()) << '\n';
      if (m_options.fidelity) streams.out << '\n' << fidelityReport(plan, result, measured);
      streams.out.flush();
    }
    return isStopped ? ExitCode::Stopped : exitCodeOf(result.outcome);
  }

  std::string exactness(const workbench::RunSettings& settings) const {
    return layout::exactnessOver(
        policy::exactnessOn(workbench::policyOf(settings.policy), m_bundle.backend->info().rowsAreBitEqual),
        workbench::layoutOf(settings.layout));
  }

  /// Whether all runs have the same policy, layout and seed.
  bool isOneSetting() const {
    return std::ranges::all_of(m_jobs, [this](const Job& job) {
      const workbench::RunSettings& first = m_jobs.front().planned->settings;
      const workbench::RunSettings& own = job.planned->settings;
      return own.policy == first.policy && own.layout == first.layout && own.seed == first.seed;
    });
  }

  void writeSettings(nlohmann::ordered_json& json, const workbench::RunSettings& settings) const {
    json["policy"] = workbench::policyOf(settings.policy).name();
    json["layout"] = layout::infoOf(workbench::layoutOf(settings.layout)).name;
    json["exactness"] = exactness(settings);
    json["seed"] = settings.seed;
  }

  void writeJson(nlohmann::ordered_json runs) const {
    nlohmann::ordered_json json;
    json["model"] = m_bundle.name;
    json["device"] = m_bundle.backend->info().name;
    if (isOneSetting()) writeSettings(json, m_jobs.front().planned->settings);
    json["runs"] = std::move(runs);
    // A stopped run may end in the middle of a character.
    m_context.streams.out << jsonText(json) << '\n';
  }

  const Context& m_context;
  const Options& m_options;
  std::vector<Job> m_jobs;
  metrics::Meters m_meters;  ///< measures all events of the runs
  std::shared_ptr<trace::Recorder> m_recorder = std::make_shared<trace::Recorder>();
  std::shared_ptr<workbench::ModelBundle> m_model;
  workbench::ModelBundle& m_bundle;
  std::vector<std::int32_t> m_observed;  ///< layers whose attention is recorded
  CommandService m_service;
};

/// Uses the words of the list of problems in the window.
void warnOfNothingToGenerate(const std::string& file, std::ostream& err) {
  err << inputName(file) << ": warning: " << document::nothingToGenerate().words() << ". "
      << document::nothingToGenerateHint().words() << '\n';
}

ExitCode runFiles(const Context& context, Options options) {
  // All files are planned before the model is loaded: an error in the last file is then reported before the
  // first run.
  std::vector<InputFile> files = readInputFiles(options.files, context.streams);
  const workbench::RunSettings written = options.session.settings;
  const CommandSettings settings(*options.command, written, options.query.settings);
  options.session.settings = settings.ofSession(files);
  options.session.check();
  std::vector<Job> jobs;
  PlannedRuns plans;
  bool wrong = false;
  std::optional<workbench::RunSettings> ofQuery;  // of the first query alone
  QueryOptions given = queryOptions(options.query);
  retrieveWith(given, options.query, context, options.session.settings.model, modelOptions(options.session));
  for (InputFile& file : files) {
    settings.checkServer(file);
    workbench::RunSettings own = settings.of(file);
    if (!file.settings && !ofQuery) ofQuery = own;
    auto planned = planText(file.name, file.text, withSettings(given, options.query, own), context.streams);
    if (planned) {
      if (planned->made.plan->steps.empty()) warnOfNothingToGenerate(file.name, context.streams.err);
      jobs.push_back({.file = file.name, .planned = plans.keep(std::move(*planned), std::move(own))});
    } else {
      wrong = true;
    }
    file = {};
  }
  warnOfUnused(given, context.streams);
  warnOfGuessedTemplate(context.streams.err, options.session.settings);
  if (ofQuery && options.command->count("--policy") == 0) noteUsualPolicy(context.streams.err, *ofQuery);
  if (wrong) return ExitCode::WrongInput;
  return RunCommand(context, options, std::move(jobs), given.retriever->model()).run();
}

}  // namespace

void addRun(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("run", "Run queries, one after the other, with one cache");
  command->footer(
      R"(Examples:
  spanq run resources/queries/rag.json resources/queries/rag-swapped.json
  spanq run --policy prefix --json --trace run.trace resources/queries/judge-4.json
  spanq run --policy prefix resources/queries/parameters.span

)"
      "A query file (.span) runs with its own settings, as in the window. Options override these settings. "
      "To record a "
      "run, or to get vectors from a server, use the options. A query file alone does neither.\n");
  const auto options = std::make_shared<Options>();
  options->command = command;
  command->add_option("FILE", options->files, kQueryFilesHelp)->required();
  workbench::RunSettings& settings = options->session.settings;
  addSettings(*command, settings, {"model", "chat_template", "template_variables"});
  addSettings(*command, settings, {"policy", "prompt_layout"});
  addPlanOptions(*command, options->query);
  addSettings(*command, settings, {"max_tokens"});
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  addNumber(*command, "--top-k", options->topK, "Sample from the k most likely tokens; 0: off", {0, kMost});
  addNumber(*command, "--top-p", options->topP,
            "Sample from the most likely tokens with total probability p; 1: off", {0.0F, 1.0F});
  addSettings(*command, settings,
              {"device", "exact", "arithmetic", "threads", "block_size", "blocks", "kv_type"});
  addStoreOptions(*command, options->session);
  using workbench::SettingEffect;
  addOtherSettings(*command, settings, {SettingEffect::Model, SettingEffect::Session, SettingEffect::Run});
  CLI::Option* trace =
      command->add_option("--trace", options->trace, "Record the events of all runs to this file")
          ->type_name("FILE");
  addSettings(*command, settings, {"layers", "attention_mib"});
  command->get_option("--observe")->needs(trace);
  addOtherSettings(*command, settings, {SettingEffect::Record, SettingEffect::Window});
  command->add_flag("--fidelity", options->fidelity,
                    "Compare each answer with a full prefill of the same tokens");
  command->add_flag("--json", options->json, "Write one JSON object instead of text");

  command->callback([&context, options] {
    options->session.check();
    options->query.check();
    context.recordsTrace = !options->trace.empty();
    context.action = [&context, options] { return runFiles(context, *options); };
  });
}

}  // namespace spanscope::cli
