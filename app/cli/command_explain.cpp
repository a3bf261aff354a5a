// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/document_settings.h"
#include "app/cli/input.h"
#include "app/cli/layout_lines.h"
#include "app/cli/parameter_lines.h"
#include "app/cli/predicted_reuse.h"
#include "app/cli/query_options.h"
#include "app/cli/text_table.h"
#include "app/cli/twin_forecast.h"
#include "engine/base/output_file.h"
#include "engine/plan/explain.h"
#include "engine/query/json/json.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/trace_file.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::cli {

namespace {

struct ExplainCommandOptions {
  std::vector<std::string> files;
  QueryOptionTexts query;
  PredictionOptions prediction;
  TwinOptions twin;
  bool trees = false;
  bool json = false;
  bool dot = false;
  const CLI::App* command = nullptr;
};

/// The JSON object of `explain` with one more entry.
std::string withEntry(const std::string& explained, const char* name, nlohmann::ordered_json value) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(explained);
  json[name] = std::move(value);
  return jsonText(json) + "\n";
}

/// Text in the tokens of that tokenizer, which must outlive the measure.
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
    if (!m_options.twin.trace.empty()) {
      trace.emplace(m_options.twin.trace, OutputRules{.inputs = m_options.query.book->files,
                                                      .unfinished = m_streams.unfinished,
                                                      .stop = m_context.stop});
    }
    for (const InputFile& file : files) {
      settings.checkServer(file);
      const workbench::RunSettings own = settings.of(file);
      if (m_prediction) m_prediction->use(own);
      if (m_twin) m_twin->use(own);
      QueryOptions asked = withSettings(given, m_options.query, own);
      // What a server would find is of what it would be sent (exports::chatRequests).
      if (m_twin) {
        asked.plan.distribute = false;
        asked.plan.outputForm = plan::OutputForm::Anew;
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
      trace->write(trace::traceBytes(m_twin->events(), {.program = "spanq " SPANSCOPE_VERSION}));
      trace->commit();
    }
    return code;
  }

 private:
  /// Of this program's own cache.
  bool isPredicted() const { return m_options.prediction.isWanted && m_options.twin.server.empty(); }

  /// As `spanq run` does: with the model and cache that documents ask for, unless an option says otherwise.
  void openPrediction(const CommandSettings& settings, const std::vector<InputFile>& files) {
    PredictionOptions prediction = m_options.prediction;
    if (prediction.isWanted || prediction.layouts) {
      prediction.session.settings = settings.ofSession(files);
      prediction.session.check();
    }
    if (isPredicted() || prediction.layouts) m_prediction.emplace(prediction);
    if (!m_options.twin.server.empty()) m_twin.emplace(*m_options.command, prediction, m_options.twin);
    if (!m_options.dot) m_tokenizer = text::loadTokenizer(modelDirectory(prediction.session));
  }

  /// False: it was stopped.
  bool explainOne(const std::string& file, const PlannedFile& planned) {
    plan::ExplainOptions explain;
    explain.eachTree = m_options.trees;
    if (m_tokenizer != nullptr) explain.measure = tokensOf(*m_tokenizer);
    if (planned.made.planWithoutLocality) explain.withoutLocality = &*planned.made.planWithoutLocality;
    const plan::Plan& plan = planned.plan();
    std::optional<run::Prediction> predicted;
    if (isPredicted()) predicted = m_prediction->predict(plan, m_context.stop);
    if (predicted && predicted->stopped) return false;
    std::optional<std::vector<TwinStep>> found;
    if (m_twin) {
      found = m_twin->forecast(plan, query::writeCanonical(planned.query()), m_context.stop);
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
      if (m_twin) json = withEntry(json, "twin", m_twin->json(plan, found));
      if (layouts) json = withEntry(json, "layouts", layoutsJson(*layouts));
      out << json;
    } else if (m_options.dot) {
      out << plan::explainGraph(plan);
    } else {
      if (m_options.files.size() > 1) out << "── " << inputName(file) << '\n';
      out << parameterTable(parameters, planned.values) << plan::explain(plan, explain);
      if (layouts) out << "Layouts: policy " << m_prediction->policy() << '\n' << layoutTable(*layouts);
      if (m_twin) out << "On " << m_twin->setting() << '\n' << twinText(plan, found);
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
  std::optional<TwinForecast> m_twin;
  std::unique_ptr<text::Tokenizer> m_tokenizer;  ///< that measures prompts
};

}  // namespace

void addExplain(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("explain", "Show the rewritten queries and the steps in which they run");
  command->footer(
      "Example:\n  spanq explain resources/queries/judge-2.json\n"
      "  spanq explain --no-distribute resources/queries/judge-2.json\n"
      "  spanq explain --locality 2 --rule distribute-plus=off resources/queries/judge-4.json\n"
      "  spanq explain --predict resources/queries/rag.json resources/queries/rag-swapped.json\n"
      "  spanq explain --why resources/queries/rag.json resources/queries/rag-swapped.json\n"
      "  spanq explain --predict --as vllm resources/queries/rag.json resources/queries/rag-swapped.json\n"
      "  spanq explain --layouts resources/queries/rag.json\n"
      "  spanq explain --dot resources/queries/judge-2.json | dot -Tsvg >plan.svg\n\n"
      "A document is planned with its own settings. Options win over them.\n");
  const auto options = std::make_shared<ExplainCommandOptions>();
  options->command = command;
  command->add_option("FILE", options->files, kQueryFilesHelp)->required();
  addPlanOptions(*command, options->query);
  CLI::Option* trees =
      command->add_flag("--trees", options->trees, "Show the whole tree before and after every pass");
  CLI::Option* json = command->add_flag("--json", options->json, "Write a JSON document for each query");
  CLI::Option* dot = command->add_flag("--dot", options->dot, "Write steps and prompts as a Graphviz graph")
                         ->excludes(json)
                         ->excludes(trees);
  addPredictionOptions(*command, options->prediction);
  addTwinOptions(*command, options->twin);
  dot->excludes(command->get_option("--predict"))
      ->excludes(command->get_option("--why"))
      ->excludes(command->get_option("--layouts"))
      ->excludes(command->get_option("--as"));
  command->get_option("--why")->excludes(command->get_option("--as"));

  command->callback([&context, options, command] {
    // A forecast for another server is one.
    options->prediction.isWanted = options->prediction.isWanted || !options->twin.server.empty();
    checkPredictionOptions(*command, options->prediction);
    options->prediction.session.check();
    options->query.check();
    context.action = [&context, options] { return ExplainCommand(context, *options).run(); };
  });
}

}  // namespace spanscope::cli
