// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/problems.h"

#include "engine/compute/backends.h"
#include "engine/policy/policies.h"
#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/query/parameters.h"
#include "engine/query/surroundings.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/model_names.h"
#include "engine/workbench/pipeline.h"
#include "ui/operators/operator_table.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

/// Queries that grow beyond this when they are written out are planned when they are run, not while they are
/// typed.
constexpr double kMostPlannedNodes = 20'000;

QString sentence(const std::string& found, const std::string& expected) {
  QString text = QString::fromStdString(found);
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return expected.empty() ? text : tr("%1: expected %2").arg(text, QString::fromStdString(expected));
}

/// Stands for the files and the person while a query is written: everything is there.
class StandIns final : public query::Surroundings {
 public:
  std::variant<std::string, query::NotGiven> readFile(const std::string& path) override { return path; }
  std::variant<std::string, query::NotGiven> ask(const std::string& prompt) override { return prompt; }
};

/// How many replies a run of the node would give, where that is known.
std::optional<std::size_t> repliesOf(const query::Node& own,
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

/// Containers that the node may have by itself in JSON: the content of a document counted as bytes, of which
/// there is one more around than around text.
std::size_t mostContainers(const query::Node& own) {
  query::Node withBytes = own;
  if (query::SourceDocument* document = query::documentOf(withBytes)) {
    document->content.emplace<std::vector<std::uint8_t>>();
  }
  return query::containersOf(withBytes).own;
}

/// The document's policy, or what is run in its place.
const policy::Policy& policyOf(const document::RunSettings& settings) {
  return policy::findChoice(settings.policy).value_or(policy::Choice()).policy();
}

class Finder {
  Q_DECLARE_TR_FUNCTIONS(spanscope::ui::Finder)
 public:
  Finder(const document::Document& document, const ProblemContext& context)
      : m_document(document),
        m_policy(policyOf(document.settings)),
        m_context(context),
        m_checkpoint(workbench::modelNameOf(document.settings)) {}

  std::vector<Problem> find() {
    findInTree();
    // It says nothing of the query, which is planned all the same.
    checkDevice();
    return std::move(m_problems);
  }

 private:
  void findInTree() {
    if (m_document.root() == document::kNoNode) {
      add(Severity::Error, document::kNoNode, tr("The query is empty"),
          tr("Add a node on the canvas or from the list of operators"));
      return;
    }
    const double size = visit(m_document.root(), 0);
    const bool hasError = std::any_of(m_problems.begin(), m_problems.end(), [](const Problem& problem) {
      return problem.severity == Severity::Error;
    });
    if (!hasError && size <= kMostPlannedNodes) plan();
    for (const document::NodeId top : m_document.tops()) {
      if (top == m_document.root()) continue;
      add(Severity::Warning, top, tr("This tree is not part of the query"),
          tr("Connect it, or make it the query: Node, Make this the query"));
    }
  }

  void checkDevice() {
    const std::string& name = m_document.settings.device;
    const std::string obstacle =
        m_context.devices == nullptr ? std::string() : compute::obstacleOf(*m_context.devices, name);
    if (obstacle.empty()) return;
    m_problems.insert(m_problems.begin(),
                      {.severity = Severity::Error,
                       .node = document::kNoNode,
                       .text = tr("The device %1 cannot be used here: %2")
                                   .arg(QString::fromStdString(name), QString::fromStdString(obstacle)),
                       .hint = tr("Use the CPU, or choose another device in the settings"),
                       .otherModel = {},
                       .isOfDevice = true});
  }

  void add(Severity severity, document::NodeId node, QString text, QString hint = {}) {
    m_problems.push_back(
        {.severity = severity, .node = node, .text = std::move(text), .hint = std::move(hint)});
  }

  /// Checks what would be run below the node; returns about how many nodes that is when it is written out.
  double visit(document::NodeId id, std::size_t depth) {
    const document::DocumentNode& node = m_document.at(id);
    if (node.isFrozen()) {
      checkFrozen(id, node);
      return 1 + static_cast<double>(node.frozen.size());
    }
    if (depth + mostContainers(node.own) > query::kMaxDepth && !m_isTooDeep) {
      m_isTooDeep = true;
      add(Severity::Error, id,
          tr("Nested too deeply: a query may hold at most %1 lists and objects within each other")
              .arg(query::kMaxDepth),
          tr("A document like this cannot be saved"));
    }
    checkOwn(id, node);
    checkInputs(id, node);
    const std::size_t around = query::containersOf(node.own).aroundChild;
    double size = 1;
    double product = 1;
    for (const document::NodeId child : node.children) {
      if (child == document::kNoNode || m_document.at(child).muted) continue;
      const double below = visit(child, depth + around);
      size += below;
      product *= below + 1;
    }
    if (const query::Times* times = query::countOf(node.own)) {
      const auto* count = std::get_if<std::uint8_t>(times);
      size *= count != nullptr ? *count : 16;
    }
    if (const auto* inputs = query::inputsOf(node.own)) size *= 1 + static_cast<double>(inputs->size());
    // One input may stand before every part of the other.
    const std::size_t most = document::arityOf(node.own).most;
    return most > 1 && most != document::Arity::kMany ? product : size;
  }

  /// Replies stay what they were when the node is edited; that there would be more or fewer of them is said.
  void checkFrozen(document::NodeId id, const document::DocumentNode& node) {
    const std::optional<std::size_t> wanted = repliesOf(node.own, document::effectiveValues(m_document));
    if (!wanted || *wanted == node.frozen.size()) return;
    const QString what = operatorLabel(query::operatorName(node.own));
    const QString hint = tr("Unfreeze the %1 to run it as it is now").arg(what);
    add(Severity::Warning, id,
        node.frozen.size() == 1
            ? tr("1 frozen answer stands in for a %1 of %2").arg(what).arg(*wanted)
            : tr("%1 frozen answers stand in for a %2 of %3").arg(node.frozen.size()).arg(what).arg(*wanted),
        hint);
  }

  void checkInputs(document::NodeId id, const document::DocumentNode& node) {
    const QString what = operatorLabel(query::operatorName(node.own));
    const document::Arity arity = document::arityOf(node.own);
    if (arity.most == document::Arity::kMany) {
      const bool isAnyLeft =
          std::any_of(node.children.begin(), node.children.end(),
                      [this](document::NodeId child) { return !m_document.at(child).muted; });
      if (isAnyLeft) return;
      if (node.children.empty())
        add(Severity::Warning, id, tr("The %1 has no children").arg(what),
            tr("It adds nothing to the prompt"));
      else
        add(Severity::Warning, id, tr("All children of the %1 are muted").arg(what),
            tr("It adds nothing to the prompt"));
      return;
    }
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const QString place = node.children.size() == 1 ? tr("input")
                            : i == 0                  ? tr("first input")
                                                      : tr("second input");
      if (node.children[i] == document::kNoNode) {
        add(Severity::Error, id, tr("The %1 has no %2").arg(what, place), tr("Connect a node to it"));
      } else if (m_document.at(node.children[i]).muted) {
        add(Severity::Error, id, tr("The %2 of the %1 is muted").arg(what, place),
            tr("Unmute it, or mute the %1").arg(what));
      }
    }
  }

  void checkOwn(document::NodeId id, const document::DocumentNode& node) {
    if (const query::GenerateSettings* settings = query::settingsOf(node.own)) checkSettings(id, *settings);
    if (hasNumberParameter(node.own)) checkParameters(id, node.own);
    if (const query::Times* times = query::countOf(node.own)) {
      const auto* count = std::get_if<std::uint8_t>(times);
      if (count != nullptr && *count == 0)
        add(Severity::Warning, id, tr("A repeat of 0 times"), tr("It adds nothing to the prompt"));
    }
    if (const auto* inputs = query::inputsOf(node.own)) {
      if (inputs->empty())
        add(Severity::Warning, id, tr("The map has no inputs"), tr("It adds nothing to the prompt"));
    }
    if (ui::hasPath(query::operatorName(node.own))) checkFile(id, *query::textOf(node.own));
  }

  void checkFile(document::NodeId id, const std::string& path) {
    if (path.empty()) {
      add(Severity::Error, id, tr("The file has no path"), tr("It is read when the query is run"));
    } else if (m_context.fileObstacle) {
      if (const auto obstacle = m_context.fileObstacle(path))
        add(Severity::Error, id, sentence(obstacle->found, obstacle->expected), sentence(obstacle->hint, {}));
    }
  }

  void checkSettings(document::NodeId id, const query::GenerateSettings& settings) {
    checkModel(id, settings.model);
    if (const auto* most = std::get_if<std::int32_t>(&settings.maxTokens); most != nullptr && *most < 0) {
      add(Severity::Warning, id, tr("Max tokens is %1").arg(*most),
          tr("0 or less means no limit of its own"));
    }
    if (const auto* temperature = std::get_if<float>(&settings.temperature)) {
      if (!std::isfinite(*temperature) || *temperature < 0) {
        add(Severity::Error, id,
            tr("The temperature is %1: expected a finite number from 0 up").arg(double(*temperature)));
      } else if (*temperature > 2) {
        add(Severity::Warning, id, tr("The temperature is %1").arg(double(*temperature)),
            tr("Most servers take 0 to 2; answers become noise above"));
      }
    }
  }

  /// None is fine: the document's checkpoint runs it, and exporting says where servers need a name.
  void checkModel(document::NodeId id, std::string wanted) {
    if (const std::optional<std::string> name = query::parameterName(wanted)) {
      const std::map<std::string, std::string> values = document::effectiveValues(m_document);
      const auto value = values.find(*name);
      if (value == values.end()) {
        add(Severity::Error, id,
            tr("The model is the parameter {%1}, which has no value").arg(QString::fromStdString(*name)),
            tr("Give it a value, or name the model"));
        return;
      }
      wanted = value->second;
    }
    if (m_checkpoint.empty() || workbench::meansModel(wanted, m_checkpoint)) return;
    const std::vector<std::string> accepted = workbench::stoodFor(m_document.settings);
    if (std::find(accepted.begin(), accepted.end(), wanted) != accepted.end()) return;
    const QString here = QString::fromStdString(m_checkpoint);
    add(Severity::Warning, id,
        tr("The query names the model %1; %2 would run it").arg(QString::fromStdString(wanted), here),
        tr("Run it here on %1, or choose the model at the top").arg(here));
    m_problems.back().otherModel = wanted;
  }

  void checkParameters(document::NodeId id, const query::Node& own) {
    const auto resolved = query::resolveParameters(own, document::effectiveValues(m_document));
    const auto* diagnostics = std::get_if<std::vector<query::Diagnostic>>(&resolved);
    if (diagnostics == nullptr) return;
    for (const query::Diagnostic& diagnostic : *diagnostics) {
      add(Severity::Error, id, sentence(diagnostic.found, diagnostic.expected),
          QString::fromStdString(diagnostic.hint));
    }
  }

  void plan() {
    document::QueryOf run = document::toQuery(m_document, document::TakeOut::MutedAndFrozen);
    if (!run.query) return;
    // What is retrieved is known when the query is run, and so is what a question or a file will say: that it
    // says something is enough here.
    const std::vector<document::NodeId> ids = m_document.ids();
    const auto retrieves = [this](document::NodeId id) {
      return m_document.inQuery(id) && query::documentOf(m_document.at(id).own) != nullptr;
    };
    StandIns standIns;
    const workbench::PipelineResult result =
        workbench::runPipeline({.source = std::move(*run.query),
                                .parameters = m_document.parameters,
                                .declarations = m_document.declarations,
                                .surroundings = &standIns,
                                .plan = document::planOptionsOf(m_document.settings)},
                               std::any_of(ids.begin(), ids.end(), retrieves) ? workbench::Stage::Parameters
                                                                              : workbench::Stage::Plan);
    if (result.at == workbench::Stage::Sugar) return;
    for (const query::Diagnostic& diagnostic : result.diagnostics) {
      add(Severity::Error, run.paths.nodeOf(diagnostic.pointer),
          sentence(diagnostic.found, diagnostic.expected));
    }
    if (!result.plan) return;
    if (result.plan->steps.empty()) {
      add(Severity::Error, m_document.root(),
          tr("There is nothing to generate: the query has no generate node"), tr("Put a generate above it"));
    }
    for (const plan::Step& step : result.plan->steps) {
      notePolicy(step.prompt, run.paths);
      checkLength(step, run.paths);
    }
  }

  void notePolicy(const plan::PromptNode& prompt, const document::NodePaths& paths) {
    if (const auto* children = std::get_if<plan::PromptRun>(&prompt.value)) {
      for (const plan::PromptNode& child : children->children) notePolicy(child, paths);
    } else if (const auto* plus = std::get_if<plan::PromptPlus>(&prompt.value)) {
      if (!m_policy.hasIndependentSpans && !m_isOrderNoted) {
        m_isOrderNoted = true;
        add(Severity::Warning, paths.nodeOf(prompt.node),
            tr("Under the policy %1 the children of a plus are reused only from the front, in the same order")
                .arg(QString::fromUtf8(m_policy.name)),
            tr("The policy %1 reuses them in any order")
                .arg(QString::fromUtf8(policy::standardPolicy().name)));
      }
      for (const plan::PromptNode& child : plus->children) notePolicy(child, paths);
    } else if (const auto* output = std::get_if<plan::PromptOutput>(&prompt.value)) {
      if (output->form != plan::OutputForm::Anew || !m_policy.hasIndependentSpans ||
          m_policy.quotesAsGenerated)
        return;
      const document::NodeId node = paths.nodeOf(prompt.node);
      if (!m_notedAnew.insert(node).second) return;
      add(Severity::Warning, node,
          tr("The answer of this inner generate is computed again in the prompt that holds it"),
          m_document.settings.distribute
              ? tr("It is reused directly under a plus with the same model, or with the output form reused")
              : tr("It is reused with plus distribution, or with the output form reused"));
    }
  }

  std::int64_t tokensIn(const plan::PromptNode& prompt) const {
    std::int64_t tokens = 0;
    if (const auto* message = std::get_if<plan::PromptMessage>(&prompt.value)) {
      tokens = m_context.countTokens(message->text);
    } else if (const auto* run = std::get_if<plan::PromptRun>(&prompt.value)) {
      for (const plan::PromptNode& child : run->children) tokens += tokensIn(child);
    } else if (const auto* plus = std::get_if<plan::PromptPlus>(&prompt.value)) {
      for (const plan::PromptNode& child : plus->children) tokens += tokensIn(child);
    }
    return tokens;
  }

  void checkLength(const plan::Step& step, const document::NodePaths& paths) {
    if (!m_context.countTokens) return;
    const document::NodeId node = paths.nodeOf(step.node);
    if (!m_measured.insert(node).second) return;
    const std::int64_t tokens = tokensIn(step.prompt);
    const std::int64_t whole = tokens + step.maxTokens.value_or(0);
    const std::int64_t context = m_context.contextLength;
    if (context > 0 && tokens >= context) {
      add(Severity::Error, node,
          tr("The prompt has at least %1 tokens; the model holds %2").arg(tokens).arg(context),
          tr("Shorten it by %1 tokens or more").arg(tokens - context + 1));
    } else if (context > 0 && whole > context) {
      add(Severity::Warning, node,
          tr("The prompt of at least %1 tokens leaves no room for an answer of %2: the model holds %3")
              .arg(tokens)
              .arg(step.maxTokens.value_or(0))
              .arg(context));
    } else {
      checkPool(node, whole);
    }
  }

  /// A warning only: templates and partial tails come on top, and equal beginnings of spans share blocks.
  void checkPool(document::NodeId node, std::int64_t tokens) {
    const document::RunSettings& settings = m_document.settings;
    const std::int64_t blockSize = std::max(1, settings.blockSize);
    const std::int64_t needed = (tokens + blockSize - 1) / blockSize;
    // Block 0 is never handed out.
    const std::int64_t there = std::max(0, settings.blockCount - 1);
    if (needed <= there) return;
    add(Severity::Warning, node,
        tr("The prompt and its answer take about %1 blocks of %2 tokens; the pool has %3")
            .arg(needed)
            .arg(blockSize)
            .arg(there),
        tr("Make the pool larger in the settings: a run that does not fit is refused"));
  }

  const document::Document& m_document;
  const policy::Policy& m_policy;
  const ProblemContext& m_context;
  const std::string m_checkpoint;  ///< name of the one that would run it
  std::vector<Problem> m_problems;
  std::set<document::NodeId> m_notedAnew;
  std::set<document::NodeId> m_measured;
  bool m_isTooDeep = false;
  bool m_isOrderNoted = false;
};

}  // namespace

std::vector<Problem> findProblems(const document::Document& document, const ProblemContext& context) {
  return Finder(document, context).find();
}

QString refusalOf(const std::vector<Problem>& problems) {
  const auto isError = [](const Problem& problem) { return problem.severity == Severity::Error; };
  const auto first = std::find_if(problems.begin(), problems.end(), isError);
  if (first == problems.end()) return {};
  QString text = first->text + QLatin1Char('.');
  if (!first->hint.isEmpty()) text += QLatin1Char(' ') + first->hint + QLatin1Char('.');
  const auto others = std::count_if(first + 1, problems.end(), isError);
  if (others > 0) text += tr(" (and %1 more)").arg(others);
  return text;
}

QString nodeLabel(const document::DocumentNode& node) {
  const QString label = operatorLabel(query::operatorName(node.own));
  return node.name.empty() ? label : tr("%1 · %2").arg(label, QString::fromStdString(node.name));
}

}  // namespace spanscope::ui
