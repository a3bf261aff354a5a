// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/document/problems.h"

#include "engine/base/problem_sentence.h"
#include "engine/base/translation.h"
#include "engine/compute/backends.h"
#include "engine/plan/prompt_children.h"
#include "engine/policy/policies.h"
#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/query/parameters.h"
#include "engine/text/program_templates.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/document_text.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/model_names.h"
#include "engine/workbench/pipeline.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>
#include <variant>

namespace spanscope::document {
namespace {

/// Queries that expand to more nodes are planned only at a run, not while the user types.
constexpr double kMostPlannedNodes = 20'000;

std::string capitalized(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

Sentence::Argument argumentOf(std::string text) {
  return {.text = std::move(text)};
}
Sentence::Argument argumentOf(std::int64_t number) {
  return {.text = std::to_string(number)};
}
Sentence::Argument argumentOf(double number) {
  std::ostringstream text;
  text << number;
  return {.text = text.str()};
}
Sentence::Argument argumentOf(const query::Node& named) {
  return {.text = query::operatorName(named), .isOperator = true};
}

template <class... Arguments>
Sentence say(const char* form, const Arguments&... arguments) {
  return {form, {argumentOf(arguments)...}};
}

Sentence plain(const std::string& words) {
  if (words.empty()) return {};
  return say(forTranslation("Problems", "%1"), capitalized(words));
}

Sentence sentence(const std::string& found, const std::string& expected) {
  if (expected.empty()) return plain(found);
  return plain(problemSentence(found, expected));
}

std::string wordOf(const Sentence::Argument& argument) {
  if (!argument.isOperator) return argument.text;
  return argument.text == "g" ? "generate" : argument.text;
}

/// Replaces the files and the user while a query is written. Every file and every answer exists.
class StandIns final : public query::Surroundings {
 public:
  std::variant<std::string, query::NotGiven> readFile(const std::string& path) override { return path; }
  std::variant<std::string, query::NotGiven> ask(const std::string& prompt) override { return prompt; }
};

/// Returns the number of answers that a run of the node would give, if it is known.
std::optional<std::size_t> answersOf(const query::Node& own,
                                     const std::map<std::string, std::string>& values) {
  if (const std::vector<std::string>* inputs = query::inputsOf(own)) return inputs->size();
  const query::Times* times = query::countOf(own);
  if (times == nullptr) return std::nullopt;
  if (const auto* count = std::get_if<std::uint8_t>(times)) return *count;
  const auto value = values.find(std::get<query::Parameter>(*times).name);
  std::uint8_t count = 0;
  if (value == values.end()) return std::nullopt;
  const char* const end = value->second.data() + value->second.size();
  const auto read = std::from_chars(value->second.data(), end, count);
  return read.ec == std::errc() && read.ptr == end ? std::optional<std::size_t>(count) : std::nullopt;
}

bool hasNumberParameter(const query::Node& own) {
  const query::Times* times = query::countOf(own);
  if (times != nullptr && std::holds_alternative<query::Parameter>(*times)) return true;
  const query::GenerateSettings* settings = query::settingsOf(own);
  return settings != nullptr && (std::holds_alternative<query::Parameter>(settings->maxTokens) ||
                                 std::holds_alternative<query::Parameter>(settings->temperature));
}

/// Returns the number of JSON containers of the node itself. A document with bytes has one container more
/// than a document with text.
std::size_t mostContainers(const query::Node& own) {
  query::Node withBytes = own;
  if (query::SourceDocument* document = query::documentOf(withBytes)) {
    document->content.emplace<std::vector<std::uint8_t>>();
  }
  return query::containersOf(withBytes).own;
}

/// Returns the place of a generate node's settings in its JSON.
std::string settingsPlace(const query::Node& own) {
  const std::string name = query::operatorName(own);
  return name == "repeat" ? "/repeat/g" : name == "map" ? "/map/metadata" : "/" + name;
}

/// Returns the document's policy, or the policy that runs in its place.
const policy::Policy& policyOf(const RunSettings& settings) {
  return policy::findChoice(settings.policy).value_or(policy::Choice()).policy();
}

class Finder {
 public:
  Finder(const Document& document, const ProblemContext& context, NodeId top)
      : m_document(document),
        m_top(top == kNoNode ? document.root() : top),
        m_policy(policyOf(document.settings)),
        m_context(context),
        m_checkpoint(workbench::modelNameOf(document.settings)) {}

  std::vector<QueryProblem> find() {
    findInTree();
    // The problem does not concern the query, which is still planned.
    checkModel();
    checkDevice();
    return std::move(m_problems);
  }

 private:
  void findInTree() {
    if (m_top == kNoNode) {
      add(Severity::Error, kNoNode, say(forTranslation("Problems", /*id:query-empty*/ "The query is empty")),
          say(forTranslation(
              "Problems", /*id:add-node-canvas*/ "Add a node on the canvas or from the list of operators")));
      return;
    }
    if (m_document.at(m_top).muted) {
      add(Severity::Error, m_top,
          say(forTranslation("Problems", /*id:whole-query-muted*/ "The whole query is muted")),
          say(forTranslation("Problems", "Unmute the query")));
    }
    const double size = visit(m_top, 0);
    if (m_tooLarge != kNoNode) {
      const plan::PlanLimits limits;
      add(Severity::Error, m_tooLarge,
          say(forTranslation("Problems",
                             "The expanded query is too large. An expanded query may have at most %1 nodes"),
              static_cast<std::int64_t>(limits.nodes)));
    }
    const bool hasError = std::ranges::any_of(
        m_problems, [](const QueryProblem& problem) { return problem.severity == Severity::Error; });
    if (!hasError && size <= kMostPlannedNodes)
      plan();
    else if (!hasError && m_context.fit != nullptr && m_top == m_document.root())
      checkFit(*m_context.fit, toQuery(m_document, TakeOut::MutedAndFrozen, m_top).paths);
    if (m_top == m_document.root()) checkValues();
    if (m_top != m_document.root()) return;
    for (const NodeId top : m_document.tops()) {
      if (top == m_document.root()) continue;
      add(Severity::Warning, top,
          say(forTranslation("Problems", /*id:tree-not-part*/ "This tree is not part of the query")),
          say(forTranslation("Problems",
                             "Connect the tree, or make the tree the query: Node, Use draft as query")));
    }
  }

  static Sentence addsNothing() {
    return say(forTranslation("Problems", /*id:node-adds-nothing*/ "The node adds nothing to the prompt"));
  }

  void checkModel() {
    if (!m_context.modelProblem) return checkTemplate();
    const Error& error = m_context.modelProblem->error;
    QueryProblem problem{.severity = Severity::Error, .node = kNoNode, .isOfSettings = true};
    if (m_context.modelProblem->isOfTemplate && error.place == text::kVariablesPlace) {
      problem.text =
          say(forTranslation("Problems", "The template variables cannot be used: %1"), error.found);
      problem.hint = say(forTranslation("Problems", "Expected: %1"), error.expected);
    } else if (m_context.modelProblem->isOfTemplate) {
      const bool isMissing = text::isMissingTemplate(error);
      problem.text = isMissing
                         ? say(forTranslation("Problems", "The model %1 has no chat template"), m_checkpoint)
                         : say(forTranslation("Problems", "The chat template of the model %1 is not known"),
                               m_checkpoint);
      problem.hint =
          !isMissing && text::sharedTemplateProcess().isMissing()
              ? say(forTranslation("Problems",
                                   "Install the Debian package python3-jinja2, or choose a template: “Chat "
                                   "template…” in the list of models, or --template of spanq"))
              : say(forTranslation(
                    "Problems",
                    "Choose a template: “Chat template…” in the list of models, or --template of spanq"));
      problem.isOfTemplate = true;
    } else {
      // If the resources of the program are missing, the bundled model has no name.
      problem.text =
          m_checkpoint.empty()
              ? say(forTranslation("Problems", "The bundled model is missing: %1"), placedIn(error))
              : say(forTranslation("Problems", "The model %1 cannot be opened: %2"), m_checkpoint,
                    placedIn(error));
      if (!error.expected.empty())
        problem.hint = say(forTranslation("Problems", "Expected: %1"), error.expected);
    }
    m_problems.insert(m_problems.begin(), std::move(problem));
  }

  /// Returns the found text, after the model's file and the place in this file.
  std::string placedIn(const Error& error) const {
    std::string place = std::filesystem::path(error.file).filename().string();
    if (place == std::filesystem::path(m_document.settings.model).filename().string()) place.clear();
    if (!error.place.empty()) place += (place.empty() ? "" : ", ") + error.place;
    return place.empty() ? error.found : place + ": " + error.found;
  }

  void checkTemplate() {
    if (m_context.guessedTemplate.empty()) return;
    m_problems.insert(
        m_problems.begin(),
        {.severity = Severity::Warning,
         .node = kNoNode,
         .text = say(
             forTranslation("Problems",
                            "The chat template of %1 is not known. The template has the delimiters of %2"),
             m_checkpoint, m_context.guessedTemplate),
         .hint = say(forTranslation("Problems",
                                    "Check this template, and choose a template: “Chat template…” in the "
                                    "list of models, or --template of spanq")),
         .isOfTemplate = true,
         .isOfSettings = true});
  }

  void checkDevice() {
    const std::string& name = m_document.settings.device;
    const std::string reason =
        m_context.devices == nullptr ? std::string() : compute::reasonOf(*m_context.devices, name);
    if (reason.empty()) return;
    m_problems.insert(
        m_problems.begin(),
        {.severity = Severity::Error,
         .node = kNoNode,
         .text = say(
             forTranslation("Problems", /*id:device-cannot-used*/ "The device %1 cannot be used here: %2"),
             name, reason),
         .hint = say(forTranslation("Problems", "Use the CPU, or choose another device in the settings")),
         .isOfDevice = true,
         .isOfSettings = true});
  }

  void add(Severity severity, NodeId node, Sentence text, Sentence hint = {}) {
    m_problems.push_back(
        {.severity = severity, .node = node, .text = std::move(text), .hint = std::move(hint)});
  }

  /// Checks the nodes below this node that would run. Returns the approximate number of these nodes when
  /// expanded.
  double visit(NodeId id, std::size_t depth) {
    const DocumentNode& node = m_document.at(id);
    if (node.isFrozen()) {
      checkFrozen(id, node);
      return 1 + static_cast<double>(node.frozen.size());
    }
    if (depth + mostContainers(node.own) > query::kMaxDepth && !m_isTooDeep) {
      m_isTooDeep = true;
      add(Severity::Error, id,
          say(forTranslation("Problems",
                             /*id:nested-too-deeply*/ "Nested too deeply: a query may have at most %1 nested "
                                                      "lists and objects"),
              std::int64_t{query::kMaxDepth}),
          say(forTranslation("Problems", "Such a query cannot be saved")));
    }
    checkOwn(id, node);
    checkInputs(id, node);
    const std::size_t around = query::containersOf(node.own).aroundChild;
    double size = 1;
    double product = 1;
    for (const NodeId child : node.children) {
      if (child == kNoNode || m_document.at(child).muted) continue;
      const double below = visit(child, depth + around);
      size += below;
      product *= below + 1;
    }
    if (const query::Times* times = query::countOf(node.own)) {
      const auto* count = std::get_if<std::uint8_t>(times);
      size *= count != nullptr ? *count : 16;
      // The planner expands the copies and refuses the query.
      const bool isCounted = count != nullptr && !m_isSizeEstimated;
      if (isCounted && size > static_cast<double>(plan::PlanLimits().nodes) && m_tooLarge == kNoNode)
        m_tooLarge = id;
      m_isSizeEstimated = m_isSizeEstimated || count == nullptr;
    }
    if (const auto* inputs = query::inputsOf(node.own)) size *= 1 + static_cast<double>(inputs->size());
    // One input may come before every part of the other.
    const std::size_t most = arityOf(node.own).most;
    m_isSizeEstimated = m_isSizeEstimated || (most > 1 && most != Arity::kMany);
    return most > 1 && most != Arity::kMany ? product : size;
  }

  /// Editing the node does not change its frozen answers. The problem reports a different number of answers.
  void checkFrozen(NodeId id, const DocumentNode& node) {
    const std::optional<std::size_t> wanted = answersOf(node.own, effectiveValues(m_document));
    if (!wanted || *wanted == node.frozen.size()) return;
    const auto there = static_cast<std::int64_t>(node.frozen.size());
    const auto meant = static_cast<std::int64_t>(*wanted);
    add(Severity::Warning, id,
        there == 1
            ? say(forTranslation("Problems",
                                 /*id:frozen-answer-stands*/ "The %1 has 1 frozen answer: expected %2"),
                  node.own, meant)
            : say(forTranslation("Problems",
                                 /*id:frozen-answers-stand*/ "The %2 has %1 frozen answers: expected %3"),
                  there, node.own, meant),
        say(forTranslation("Problems", "Unfreeze the %1 node to run this node"), node.own));
  }

  void checkInputs(NodeId id, const DocumentNode& node) {
    const std::string place = std::string("/") + query::operatorName(node.own);
    const Arity arity = arityOf(node.own);
    if (arity.most == Arity::kMany) {
      const bool isAnyLeft =
          std::ranges::any_of(node.children, [this](NodeId child) { return !m_document.at(child).muted; });
      if (isAnyLeft) return;
      if (node.children.empty())
        addAt(place, Severity::Warning, id,
              say(forTranslation("Problems", "The %1 has no children"), node.own), addsNothing());
      else
        addAt(place, Severity::Warning, id,
              say(forTranslation("Problems", /*id:children-muted*/ "All children of the %1 are muted"),
                  node.own),
              addsNothing());
      return;
    }
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const bool isOnly = node.children.size() == 1;
      if (node.children[i] == kNoNode) {
        add(Severity::Error, id,
            say(isOnly   ? forTranslation("Problems", "The %1 has no input")
                : i == 0 ? forTranslation("Problems", /*id:no-first-input*/ "The %1 has no first input")
                         : forTranslation("Problems", /*id:no-second-input*/ "The %1 has no second input"),
                node.own),
            say(forTranslation("Problems", /*id:connect-node*/ "Connect a node to this input")));
      } else if (m_document.at(node.children[i]).muted) {
        add(Severity::Error, id,
            say(isOnly   ? forTranslation("Problems", /*id:input-muted*/ "The input of the %1 is muted")
                : i == 0 ? forTranslation("Problems", "The first input of the %1 is muted")
                         : forTranslation("Problems", "The second input of the %1 is muted"),
                node.own),
            say(forTranslation("Problems", "Unmute the input, or mute the %1"), node.own));
      }
    }
  }

  void checkOwn(NodeId id, const DocumentNode& node) {
    if (const query::GenerateSettings* settings = query::settingsOf(node.own)) checkSettings(id, *settings);
    if (hasNumberParameter(node.own)) checkParameters(id, node.own);
    if (const query::Times* times = query::countOf(node.own)) {
      const auto* count = std::get_if<std::uint8_t>(times);
      if (count != nullptr && *count == 0)
        addAt("/repeat/n", Severity::Warning, id, say(forTranslation("Problems", "A repeat of 0 times")),
              addsNothing());
    }
    if (const auto* inputs = query::inputsOf(node.own)) {
      if (inputs->empty())
        addAt("/map/inputs", Severity::Warning, id, say(forTranslation("Problems", "The map has no inputs")),
              addsNothing());
    }
    if (const auto* message = node.own.as<query::Message>(); message != nullptr && message->text.empty()) {
      addAt(std::string("/") + query::operatorName(node.own), Severity::Warning, id,
            say(forTranslation("Problems", /*id:message-empty*/ "The message is empty")),
            message->role == query::Role::System
                ? say(forTranslation("Problems",
                                     "The chat template writes an empty turn for this message, or nothing"))
                : say(forTranslation("Problems", "The message is left out of the prompt")));
    }
    if (query::infoOf(node.own).resolvedBy == query::ResolvedBy::Files) {
      if (query::textOf(node.own)->empty())
        add(Severity::Error, id, say(forTranslation("Problems", /*id:file-no-path*/ "The file has no path")),
            say(forTranslation("Problems", "Enter the path of the file that the query reads")));
      else
        checkFile(id, node.own, FileUse::Text);
    } else if (const query::SourceDocument* source = query::documentOf(node.own)) {
      const auto* text = std::get_if<std::string>(&source->content);
      if (text != nullptr && text->empty() && !source->name.empty())
        checkFile(id, node.own, FileUse::Documents);
    }
  }

  void checkFile(NodeId id, const query::Node& own, FileUse use) {
    if (!m_context.fileReason) return;
    const auto resolved = query::resolveParameters(own, effectiveValues(m_document));
    const auto* node = std::get_if<query::Node>(&resolved);
    if (node == nullptr) return;
    const std::string& path = use == FileUse::Text ? *query::textOf(*node) : query::documentOf(*node)->name;
    const std::optional<query::NotGiven> reason = m_context.fileReason(path, use);
    if (!reason) return;
    add(Severity::Error, id, sentence(reason->found, reason->expected), plain(reason->hint));
  }

  /// Adds advice that does not apply to another policy or another size.
  void addOfSettings(NodeId node, Sentence text, Sentence hint = {}) {
    add(Severity::Warning, node, std::move(text), std::move(hint));
    m_problems.back().isOfSettings = true;
  }

  /// Whether the embedded engine answers the node.
  bool isAnsweredHere(NodeId id) const {
    const std::string& server = id == kNoNode ? std::string() : m_document.at(id).server;
    return server.empty() ? !m_document.settings.runsOnServer() : server == kEmbedded;
  }

  void addAt(const std::string& field, Severity severity, NodeId node, Sentence text, Sentence hint = {}) {
    add(severity, node, std::move(text), std::move(hint));
    m_problems.back().field = field;
  }

  void checkSettings(NodeId id, const query::GenerateSettings& settings) {
    checkModel(id, settings.model);
    const std::string place = settingsPlace(m_document.at(id).own);
    if (const auto* most = std::get_if<std::int32_t>(&settings.maxTokens); most != nullptr && *most < 0) {
      addAt(place + "/max_tokens", Severity::Warning, id,
            say(forTranslation("Problems", "Max tokens is %1"), std::int64_t{*most}),
            say(forTranslation("Problems", "0 or less means no limit")));
    }
    if (const auto* temperature = std::get_if<float>(&settings.temperature)) {
      if (!std::isfinite(*temperature) || *temperature < 0) {
        addAt(place + "/temperature", Severity::Error, id,
              say(forTranslation("Problems", /*id:temperature-expected-finite*/
                                 "The temperature is %1: expected a finite number of at least 0"),
                  double(*temperature)));
      } else if (*temperature > 2) {
        addAt(place + "/temperature", Severity::Warning, id,
              say(forTranslation("Problems", "The temperature is %1"), double(*temperature)),
              say(forTranslation(
                  "Problems", "Most servers accept 0 to 2. With higher values, answers are mostly random")));
      }
    }
  }

  /// A generate node without a model is valid, because the document's checkpoint runs such a node. The export
  /// reports missing names.
  void checkModel(NodeId id, std::string wanted) {
    if (const std::optional<std::string> name = query::parameterName(wanted)) {
      const std::map<std::string, std::string> values = effectiveValues(m_document);
      const auto value = values.find(*name);
      if (value == values.end()) {
        add(Severity::Error, id,
            say(forTranslation(
                    "Problems",
                    /*id:model-parameter-no*/ "The model is the parameter {%1}, which has no value"),
                *name),
            say(forTranslation("Problems", "Set a value of the parameter, or name the model")));
        return;
      }
      wanted = value->second;
    }
    // The server decides which model the name means.
    if (!isAnsweredHere(id)) return;
    if (m_checkpoint.empty() || workbench::meansModel(wanted, m_checkpoint)) return;
    const std::vector<std::string> accepted = workbench::stoodFor(m_document.settings);
    if (std::ranges::find(accepted, wanted) != accepted.end()) return;
    add(Severity::Warning, id,
        say(forTranslation("Problems",
                           /*id:query-names-model*/ "The query names the model %1, but %2 would run it"),
            wanted, m_checkpoint),
        say(forTranslation("Problems", "Run the query on %1 anyway, or choose the named model"),
            m_checkpoint));
    m_problems.back().otherModel = wanted;
    m_problems.back().isOfSettings = true;
  }

  void checkParameters(NodeId id, const query::Node& own) {
    const auto resolved = query::resolveParameters(own, effectiveValues(m_document));
    const auto* diagnostics = std::get_if<std::vector<query::Diagnostic>>(&resolved);
    if (diagnostics == nullptr) return;
    for (const query::Diagnostic& diagnostic : *diagnostics) {
      add(Severity::Error, id, sentence(diagnostic.found, diagnostic.expected), plain(diagnostic.hint));
      m_problems.back().field = diagnostic.pointer;
    }
  }

  /// Also checks values in places that accept more than their declared kind.
  void checkValues() {
    const bool isRefused = std::ranges::any_of(
        m_problems, [](const QueryProblem& problem) { return problem.severity == Severity::Error; });
    if (isRefused || (m_document.parameters.empty() && m_document.declarations.empty())) return;
    const std::vector<query::Diagnostic> wrong = query::checkValues(
        query::listParameters(toTree(m_document, m_top), m_document.declarations), m_document.parameters);
    if (wrong.empty()) return;
    const auto paths = pathsInTree(m_document, m_top);
    for (const query::Diagnostic& diagnostic : wrong) {
      NodeId node = kNoNode;
      std::size_t length = 0;
      for (const auto& [path, id] : paths) {
        if (!diagnostic.pointer.starts_with(path + "/") || path.size() < length) continue;
        node = id;
        length = path.size();
      }
      const bool isPlaced = node != kNoNode;
      addAt(isPlaced ? diagnostic.pointer.substr(length) : std::string(), diagnostic.severity, node,
            sentence(diagnostic.found, diagnostic.expected), plain(diagnostic.hint));
    }
  }

  void plan() {
    QueryOf run = toQuery(m_document, TakeOut::MutedAndFrozen, m_top);
    if (!run.query) return;
    // Retrieved passages, answers of the user and files are known only at the run. For this check, any text
    // is enough.
    const std::vector<NodeId> ids = m_document.ids();
    const auto retrieves = [this](NodeId id) {
      return m_document.isAncestor(m_top, id) && query::documentOf(m_document.at(id).own) != nullptr;
    };
    StandIns standIns;
    const workbench::PipelineResult result = workbench::runPipeline(
        {.source = std::move(*run.query),
         .parameters = m_document.parameters,
         .declarations = m_document.declarations,
         .surroundings = &standIns,
         .plan = planOptionsOf(m_document.settings)},
        std::ranges::any_of(ids, retrieves) ? workbench::Stage::Parameters : workbench::Stage::Plan);
    if (result.at == workbench::Stage::Sugar) return;
    for (const query::Diagnostic& diagnostic : result.diagnostics) {
      add(Severity::Error, run.paths.nodeOf(diagnostic.pointer),
          sentence(diagnostic.found, diagnostic.expected), plain(diagnostic.hint));
    }
    if (!result.plan) return;
    if (result.plan->steps.empty()) {
      add(Severity::Error, m_top, nothingToGenerate(), nothingToGenerateHint());
    }
    const bool isFitKnown = m_context.fit != nullptr && m_top == m_document.root();
    for (const plan::Step& step : result.plan->steps) {
      // Policy, context and pool belong to the embedded engine.
      if (!isAnsweredHere(run.paths.nodeOf(step.node))) continue;
      notePolicy(step.prompt, run.paths);
      checkLength(step, run.paths, isFitKnown);
    }
    if (isFitKnown) checkFit(*m_context.fit, run.paths);
  }

  /// Reports the run's own error, so that check and run use the same counts.
  void checkFit(const run::PlanFit& fit, const NodePaths& paths) {
    if (!fit.error) return;
    const NodeId node = paths.nodeOf(fit.error->place);
    if (!isAnsweredHere(node)) return;
    const Sentence text = sentence(fit.error->found, fit.error->expected);
    QueryProblem problem{.severity = fit.isCertain ? Severity::Error : Severity::Warning,
                         .node = node,
                         .text = text,
                         .isOfSettings = true,
                         .poolNeeded = fit.blocksNeeded};
    if (!fit.isCertain)
      problem.text =
          say(forTranslation("Problems", "The run may fail, depending on the lengths of the answers: %1"),
              text.words());
    if (fit.blocksNeeded > 0)
      problem.hint =
          say(forTranslation("Problems", "Set the pool to %1 blocks"), std::int64_t{fit.blocksNeeded});
    m_problems.push_back(std::move(problem));
  }

  void notePolicy(const plan::PromptNode& prompt, const NodePaths& paths) {
    if (std::holds_alternative<plan::PromptPlus>(prompt.value)) {
      if (!m_policy.hasIndependentSpans && !m_isOrderNoted) {
        m_isOrderNoted = true;
        addOfSettings(paths.nodeOf(prompt.node),
                      say(forTranslation(
                              "Problems",
                              /*id:under-policy-children*/ "The policy %1 reuses the children of a plus only "
                                                           "from the first child on, in the same order"),
                          std::string(m_policy.name)),
                      say(forTranslation("Problems", "The policy %1 reuses such children in any order"),
                          std::string(policy::standardPolicy().name)));
      }
    } else if (const auto* output = std::get_if<plan::PromptOutput>(&prompt.value)) {
      if (output->form != plan::OutputForm::Recomputed || !m_policy.hasIndependentSpans ||
          m_policy.quotesAsGenerated)
        return;
      const NodeId node = paths.nodeOf(prompt.node);
      if (!m_notedRecomputed.insert(node).second) return;
      addOfSettings(
          node,
          say(forTranslation(
              "Problems",
              /*id:answer-inner-generate*/ "The answer of this subquery is recomputed in the outer prompt")),
          m_document.settings.distribute
              ? say(forTranslation("Problems",
                                   "The answer is reused if its node is a child of a plus with the "
                                   "same model. Or set the output form to “reused”"))
              : say(forTranslation(
                    "Problems",
                    "The answer is reused if plus distribution is on, or if the output form is “reused”")));
    }
    for (const plan::PromptNode& child : childrenOf(prompt)) notePolicy(child, paths);
  }

  std::int64_t tokensIn(const plan::PromptNode& prompt) const {
    const auto* message = std::get_if<plan::PromptMessage>(&prompt.value);
    std::int64_t tokens = message == nullptr ? 0 : m_context.countTokens(message->text);
    for (const plan::PromptNode& child : childrenOf(prompt)) tokens += tokensIn(child);
    return tokens;
  }

  /// Counts without the chat template. `isFitKnown`: checkFit() does the other checks.
  void checkLength(const plan::Step& step, const NodePaths& paths, bool isFitKnown) {
    if (!m_context.countTokens) return;
    const NodeId node = paths.nodeOf(step.node);
    if (!m_measured.insert(node).second) return;
    const std::int64_t tokens = tokensIn(step.prompt);
    const std::int64_t whole = tokens + step.maxTokens.value_or(0);
    const std::int64_t context = m_context.contextLength;
    if (context > 0 && tokens >= context) {
      if (isFitKnown) return;
      add(Severity::Error, node,
          say(forTranslation("Problems",
                             /*id:prompt-least-tokens-model*/ "The prompt has at least %1 tokens. The "
                                                              "context of the model has %2 tokens"),
              tokens, context),
          say(forTranslation("Problems", "Shorten the prompt by %1 tokens or more"), tokens - context + 1));
    } else if (context > 0 && whole > context) {
      add(Severity::Warning, node,
          say(forTranslation(
                  "Problems",
                  /*id:prompt-least-tokens*/ "The prompt of at least %1 tokens leaves no space for an answer "
                                             "of %2 tokens. The context of the model has %3 tokens"),
              tokens, std::int64_t{step.maxTokens.value_or(0)}, context));
    } else if (!isFitKnown) {
      checkPool(node, whole);
    }
  }

  /// The problem is only a warning, because the count is inexact. Templates and partial blocks add tokens,
  /// and spans with equal beginnings share blocks.
  void checkPool(NodeId node, std::int64_t tokens) {
    const RunSettings& settings = m_document.settings;
    const std::int64_t blockSize = std::max(1, settings.blockSize);
    const std::int64_t needed = (tokens + blockSize - 1) / blockSize;
    // Block 0 is never allocated.
    const std::int64_t there = std::max(0, settings.blockCount - 1);
    if (needed <= there) return;
    addOfSettings(
        node,
        say(forTranslation("Problems",
                           /*id:prompt-answer-take*/ "The prompt and its answer need about %1 blocks of %2 "
                                                     "tokens. The pool has %3 blocks"),
            needed, blockSize, there),
        say(forTranslation("Problems",
                           "Make the pool larger in the settings. A run that does not fit is refused")));
  }

  const Document& m_document;
  const NodeId m_top;
  const policy::Policy& m_policy;
  const ProblemContext& m_context;
  const std::string m_checkpoint;  ///< name of the checkpoint that would run the query
  std::vector<QueryProblem> m_problems;
  std::set<NodeId> m_notedRecomputed;
  std::set<NodeId> m_measured;
  NodeId m_tooLarge = kNoNode;     ///< the first repeat that makes the query too large to be planned
  bool m_isSizeEstimated = false;  ///< visit() has only an upper bound of the size
  bool m_isTooDeep = false;
  bool m_isOrderNoted = false;
};

}  // namespace

bool goesOnlyToServers(const Document& document) {
  const std::vector<NodeId> ids = document.ids();
  return document.settings.runsOnServer() &&
         std::ranges::none_of(ids, [&](NodeId id) { return document.at(id).server == kEmbedded; });
}

Sentence nothingToGenerate() {
  return say(forTranslation(
      "Problems",
      /*id:nothing-to-generate*/ "The query has no generate node, so there is nothing to generate"));
}
Sentence nothingToGenerateHint() {
  return say(forTranslation(
      "Problems", /*id:nothing-to-generate-hint*/ "Put a generate node above the root of the query"));
}

std::string Sentence::words() const {
  std::string text;
  for (const char* at = form; *at != '\0'; ++at) {
    const bool isPlace = at[0] == '%' && at[1] >= '1' && at[1] <= '9';
    const auto index = isPlace ? static_cast<std::size_t>(at[1] - '1') : arguments.size();
    if (index >= arguments.size()) {
      text += *at;
      continue;
    }
    text += wordOf(arguments[index]);
    ++at;
  }
  return text;
}

std::vector<std::string> placesOf(const Document& document, const std::vector<QueryProblem>& problems) {
  std::map<NodeId, std::string> paths;
  if (document.root() != kNoNode) {
    for (auto& [path, id] : pathsInTree(document, document.root())) paths.emplace(id, std::move(path));
  }
  std::vector<std::string> places;
  for (const QueryProblem& problem : problems) {
    const auto path = paths.find(problem.node);
    places.push_back(path == paths.end() ? std::string() : path->second + problem.field);
  }
  return places;
}

std::vector<QueryProblem> problemsOf(const Document& document, const ProblemContext& context, NodeId top) {
  return Finder(document, context, top).find();
}

}  // namespace spanscope::document
