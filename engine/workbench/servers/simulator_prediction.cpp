// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/servers/simulator_prediction.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/model/config.h"
#include "engine/query/json/json.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/remote/protocol.h"
#include "engine/run/trace_values.h"
#include "engine/text/conversation.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/servers/cache_order.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace spanscope::workbench {

namespace {

constexpr std::int32_t kDrawnBlock = 16;

struct KindRow {
  const char* id;
  const char* server;
  std::int32_t slots;
};
// llama-server with its default of four slots, and with one slot as in older versions.
constexpr std::array<KindRow, 4> kKindRows{{{"vllm", "vllm", 0},
                                            {"sglang", "sglang", 0},
                                            {"llama.cpp", "llama.cpp", 0},
                                            {"one slot", "llama.cpp", 1}}};

enum class Length : std::uint8_t { Shortest, Longest, Random };
enum class Order : std::uint8_t { AsSent, Reversed, Rotated, Random };
struct Case {
  Length length = Length::Random;
  Order order = Order::Random;
  std::size_t by = 0;  ///< number of places, if the order is rotated
};
constexpr std::size_t kRotations = 7;
constexpr std::size_t kRandomOrders = 8;

/// Each of a few concurrent requests comes first in one of these cases.
constexpr auto kCases = [] {
  std::array<Case, 5 + kRotations + kRandomOrders> cases{{{Length::Shortest, Order::AsSent},
                                                          {Length::Longest, Order::AsSent},
                                                          {Length::Random, Order::AsSent},
                                                          {Length::Shortest, Order::Reversed},
                                                          {Length::Longest, Order::Reversed}}};
  for (std::size_t by = 1; by <= kRotations; ++by) cases[4 + by] = {Length::Random, Order::Rotated, by};
  return cases;
}();
/// The max tokens of an answer without a limit.
constexpr std::int32_t kLongest = 1024;

std::uint64_t numberOf(std::size_t which, std::uint64_t place) {
  return mixBits(mixBits(which + 1) + place);
}

/// A server may get requests that are sent at the same time in any order.
void reorder(std::vector<SentPrompt>& order, std::size_t which, std::uint64_t served) {
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && order[end].isBeside) ++end;
    std::vector<std::size_t> together;
    for (std::size_t i = begin; i < end; ++i) together.push_back(order[i].index);
    if (kCases[which].order == Order::Reversed) {
      std::ranges::reverse(together);
    } else if (kCases[which].order == Order::Rotated) {
      const std::size_t by = kCases[which].by % together.size();
      std::rotate(together.begin(), together.begin() + static_cast<std::ptrdiff_t>(by), together.end());
    } else if (kCases[which].order == Order::Random) {
      for (std::size_t i = 0; i + 1 < together.size(); ++i)
        std::swap(together[i], together[i + numberOf(which, served + begin + i) % (together.size() - i)]);
    }
    for (std::size_t i = begin; i < end; ++i) order[i].index = together[i - begin];
    begin = end;
  }
}

}  // namespace

SimulatorCases::SimulatorCases(const simulator::Simulator& simulator) {
  for (std::size_t i = 0; i < kCases.size(); ++i) m_simulators.push_back(simulator.copy());
}

FoundRanges SimulatorCases::serve(const std::vector<ServerPrompt>& prompts,
                                  const std::vector<simulator::Answer>& answers, std::size_t atOnce,
                                  const std::stop_token& stop) {
  FoundRanges ranges;
  for (const simulator::Answer& answer : answers) {
    ranges.prompts.push_back({answer.cached, answer.cached});
    ranges.all.least += answer.cached;
  }
  ranges.all.most = ranges.all.least;
  const auto widen = [](FoundRange& range, std::int64_t found) {
    range.least = std::min(range.least, found);
    range.most = std::max(range.most, found);
  };
  for (std::size_t which = 0; which < kCases.size() && !stop.stop_requested(); ++which) {
    const auto lengthOf = [&](std::int32_t most, std::uint64_t place) {
      if (kCases[which].length != Length::Random) return kCases[which].length == Length::Longest ? most : 1;
      return 1 + static_cast<std::int32_t>(numberOf(which, place) % static_cast<std::uint64_t>(most));
    };
    std::vector<SentPrompt> order = sentOrder(prompts, atOnce);
    reorder(order, which, m_served);
    std::int64_t all = 0;
    for (const SentPrompt& sent : order) {
      const ServerPrompt& prompt = prompts[sent.index];
      const std::uint64_t place = m_served + sent.index;
      const std::int32_t most = prompt.mostAnswerTokens > 0 ? prompt.mostAnswerTokens : kLongest;
      std::vector<TokenId> answer = prompt.answerTokens;
      if (!answer.empty())
        answer.resize(static_cast<std::size_t>(lengthOf(most, place)), prompt.answerTokens.front());
      // An answer in the prompt may be shorter too.
      std::vector<TokenId> tokens;
      std::int32_t left = 0;
      for (std::size_t i = 0; i < prompt.tokens().size(); ++i) {
        const TokenId token = prompt.tokens()[i];
        const bool isFirst = token < 0 && (i == 0 || prompt.tokens()[i - 1] >= 0);
        if (isFirst) {
          const auto known = std::find_if(prompt.tokens().begin() + static_cast<std::ptrdiff_t>(i),
                                          prompt.tokens().end(), [](TokenId id) { return id >= 0; });
          left = lengthOf(
              static_cast<std::int32_t>(known - prompt.tokens().begin() - static_cast<std::ptrdiff_t>(i)),
              place + i);
        }
        if (token >= 0 || left-- > 0) tokens.push_back(token);
      }
      const simulator::Answer served = m_simulators[which]->serve(
          {.prompt = tokens, .answer = answer, .salt = {}, .isBeside = sent.isBeside});
      widen(ranges.prompts[sent.index], served.cached);
      all += served.cached;
    }
    if (!stop.stop_requested()) widen(ranges.all, all);
  }
  m_served += prompts.size();
  return ranges;
}

std::vector<simulator::Answer> answersOf(simulator::Simulator& simulator,
                                         const std::vector<ServerPrompt>& prompts, std::size_t atOnce) {
  std::vector<simulator::Answer> answers(prompts.size());
  for (const SentPrompt& sent : sentOrder(prompts, atOnce)) {
    const ServerPrompt& prompt = prompts[sent.index];
    answers[sent.index] = simulator.serve(
        {.prompt = prompt.tokens(), .answer = prompt.answerTokens, .salt = {}, .isBeside = sent.isBeside});
  }
  return answers;
}

namespace {

/// Returns the servers with the protocol that a run of the query would use.
std::vector<NamedSimulator> namedFor(const query::Node& query, std::vector<NamedSimulator> named) {
  for (NamedSimulator& each : named) {
    if (each.protocols.empty()) continue;
    remote::ServerFacts facts;
    facts.protocols = each.protocols;
    const remote::Protocol* const protocol = remote::protocolFor(facts, query);
    each.takesSpans = protocol != nullptr && protocol->takesCalls;
  }
  return named;
}

}  // namespace

std::optional<SimulatorPredictions> SimulatorPredictor::prediction(const PromptModel& model,
                                                                   const query::Node& query,
                                                                   const RunSettings& settings,
                                                                   const std::vector<SentQuery>& sent,
                                                                   const std::vector<NamedSimulator>& named,
                                                                   const std::stop_token& stop) {
  SimulatorPredictions predictions;
  useModel(model);
  try {
    if (!take(sent, namedFor(query, named), stop)) return std::nullopt;
    predictions.problem = chatRefusal(query);
    if (predictions.problem.empty()) predictions.prompts = m_writer->write(query, settings, stop);
  } catch (const Failure& failure) {
    predictions.problem = failure.what();
    predictions.prompts.clear();
  }
  for (const Place& place : m_places) {
    if (stop.stop_requested()) return std::nullopt;
    SimulatorPrediction& prediction = predictions.simulators.emplace_back(place.prediction);
    if (!predictions.problem.empty()) prediction.problem = predictions.problem;
    if (!prediction.problem.empty()) continue;
    try {
      prediction.orders = OrderComparison(*place.simulator, m_spans, place.hasOrderNote)
                              .serve(chatPlan(query, settings), *model.tokenizer, *model.chat,
                                     settings.maxTokens, place.atOnce);
      if (place.isOrdered && prediction.orders.hasChoice)
        prediction.prompts = m_writer->write(query, settings, stop, prediction.orders.messages);
    } catch (const Failure& failure) {
      prediction.problem = failure.what();
      continue;
    }
    const std::vector<ServerPrompt>& prompts =
        prediction.prompts.empty() ? predictions.prompts : prediction.prompts;
    const auto ask = [&](const simulator::Simulator& simulator, FoundRanges& ranges) {
      std::vector<simulator::Answer> answers = answersOf(*simulator.copy(), prompts, place.atOnce);
      ranges = SimulatorCases(simulator).serve(prompts, answers, place.atOnce, stop);
      return answers;
    };
    prediction.present = ask(*place.simulator, prediction.presentRange);
    prediction.empty = ask(*place.prediction.kind->open(place.settings), prediction.emptyRange);
  }
  if (stop.stop_requested()) return std::nullopt;
  return predictions;
}

SimulatorPredictions SimulatorPredictor::without(const std::string& problem,
                                                 const std::vector<NamedSimulator>& named) {
  SimulatorPredictions predictions{.problem = problem, .prompts = {}, .simulators = {}};
  for (const Place& place : placesFor(named)) {
    predictions.simulators.push_back(place.prediction);
    predictions.simulators.back().problem = problem;
  }
  return predictions;
}

std::vector<SimulatorPredictor::Place> SimulatorPredictor::placesFor(
    const std::vector<NamedSimulator>& named) {
  std::vector<Place> places;
  for (const KindRow& row : kKindRows)
    places.push_back(standardPlace(row.id, *simulator::findServer(row.server), {.slots = row.slots}));
  for (const NamedSimulator& each : named) places.push_back(namedPlace(each));
  return places;
}

void SimulatorPredictor::useModel(const PromptModel& model) {
  if (m_writer != nullptr && m_model == model.id) return;
  m_model = model.id;
  m_writer = std::make_unique<PromptWriter>(model.tokenizer, *model.chat);
  m_taken.clear();
  m_places.clear();
  m_spans = {};
}

SimulatorPredictor::Place SimulatorPredictor::standardPlace(const std::string& id,
                                                            const simulator::Server& kind,
                                                            const simulator::Settings& settings) {
  Place place;
  place.prediction.id = id;
  place.prediction.kind = &kind;
  place.prediction.setup = kind.setup(settings);
  place.prediction.blockSize = kDrawnBlock;
  place.settings = settings;
  place.simulator = kind.open(settings);
  place.atOnce = remote::kStandardAtOnce;
  return place;
}

SimulatorPredictor::Place SimulatorPredictor::namedPlace(const NamedSimulator& named) {
  const remote::ServerKindInfo* const info = remote::findServerKind(named.kind);
  const simulator::Server* const kind = info == nullptr ? nullptr : simulator::findServer(info->name);
  Place place;
  SimulatorSetup setup;
  if (kind != nullptr) {
    setup = simulatorSetup(info->kind, named.slots, named.cache);
    place = standardPlace({}, *kind, setup.settings);
    place.prediction.isAsSaid = setup.isAsSaid;
  }
  if (named.atOnce > 0) place.atOnce = named.atOnce;
  place.isOrdered = !named.keepsOrder;
  place.hasOrderNote = place.isOrdered && named.hasOrderNote;
  place.prediction.id = "server " + named.server;
  place.prediction.server = named.server;
  place.prediction.version = named.version;
  if (info == nullptr) {
    place.prediction.problem =
        /*id:nothing-sent-yet*/ "the server got no request yet, so the kind of the server is not known";
  } else if (info->kind == remote::ServerKind::Spanscope) {
    place.prediction.problem = "the server is another Spanscope, and its policy and pool are not known";
  } else if (kind == nullptr) {
    place.prediction.problem = "the caching rules of " + std::string(info->title) + " are not known";
  } else if (named.takesSpans) {
    place.prediction.problem =
        "the server gets whole queries, and the rules by which the server reuses spans are not known";
  } else {
    place.prediction.problem = setup.problem;
  }
  place.isSilent = !place.prediction.problem.empty();
  return place;
}

/// Whether the prompt was sent to this server. If the server's count differs, the server has another model or
/// template. The simulator then predicts nothing until the counts agree.
bool SimulatorPredictor::Place::gets(const ServerPrompt& prompt) {
  if (prediction.server.empty()) return true;
  if (simulator == nullptr || isSilent || prompt.answer.server != prediction.server) return false;
  // An incomplete answer has no count. The last count that arrived is used.
  if (!prompt.answer.promptTokens && !prediction.problem.empty()) return false;
  const auto counted = static_cast<std::int64_t>(prompt.tokens().size());
  const std::int64_t there = prompt.answer.promptTokens.value_or(counted);
  prediction.problem.clear();
  if (there != counted) {
    prediction.problem = "the server counted " + std::to_string(there) + " tokens, but Spanscope counted " +
                         std::to_string(counted) +
                         ". The model of the server has another tokenizer or chat template";
  }
  return there == counted;
}

/// Returns false when prediction is stopped. The next call continues.
bool SimulatorPredictor::take(const std::vector<SentQuery>& sent, const std::vector<NamedSimulator>& named,
                              const std::stop_token& stop) {
  const bool goesOn = m_taken.size() <= sent.size() && m_named == named && !m_places.empty() &&
                      std::equal(m_taken.begin(), m_taken.end(), sent.begin(),
                                 [](RunId taken, const SentQuery& query) { return taken == query.run; });
  if (!goesOn) {
    m_taken.clear();
    m_places.clear();
    m_spans = {};
    m_named = named;
    m_places = placesFor(named);
  }
  while (m_taken.size() < sent.size()) {
    const SentQuery& query = sent[m_taken.size()];
    takeOne(query, stop);
    if (stop.stop_requested()) return false;
    m_taken.push_back(query.run);
  }
  return !stop.stop_requested();
}

std::string SimulatorPrediction::name() const {
  if (!server.empty()) return kind == nullptr ? server : server + ", " + kind->title;
  // llama-server has two predictions.
  return kind->name == std::string_view("llama.cpp") ? std::string(kind->title) + ", " + setup : kind->title;
}

std::vector<ServerPrompt> SimulatorPredictor::promptsOf(const SentQuery& sent, const std::stop_token& stop) {
  try {
    return m_writer->write(sent, stop);
  } catch (const Failure&) {
    return {};  // A query that no server would have got leaves nothing in the caches.
  }
}

std::optional<TracedPrediction> SimulatorPredictor::trace(
    const PromptModel& model, const query::Node& query, const std::string& queryJson,
    const RunSettings& settings, const std::vector<SentQuery>& sent, const std::vector<NamedSimulator>& named,
    const std::string& place, bool afterSent, const std::stop_token& stop) {
  useModel(model);
  std::vector<Place> places = placesFor(namedFor(query, named));
  const auto own =
      std::ranges::find_if(places, [&place](const Place& each) { return each.prediction.id == place; });
  TracedPrediction traced;
  if (own == places.end() || own->simulator == nullptr) {
    traced.problem = own == places.end() ? "this simulator no longer exists" : own->prediction.problem;
    return traced;
  }
  traced.name = own->prediction.name();
  SimulatedTrace story({.server = own->prediction.kind,
                        .name = traced.name,
                        .setup = own->prediction.setup,
                        .model = modelDirectoryOf(settings).string(),
                        .atOnce = own->atOnce},
                       *own->simulator, model.tokenizer);
  for (const SentQuery& each : sent) {
    if (!afterSent) break;
    std::vector<ServerPrompt> prompts = promptsOf(each, stop);
    if (stop.stop_requested()) return std::nullopt;
    std::erase_if(prompts, [&own](const ServerPrompt& prompt) { return !own->gets(prompt); });
    if (prompts.empty()) continue;
    story.serve(each.queryJson, prompts);
    traced.before.push_back(each.run);
  }
  traced.problem = own->prediction.problem;
  if (traced.problem.empty()) traced.problem = chatRefusal(query);
  if (!traced.problem.empty()) return traced;
  try {
    MessageOrders orders;
    if (own->isOrdered) {
      orders = OrderComparison(*own->simulator, {}, own->hasOrderNote)
                   .serve(chatPlan(query, settings), *model.tokenizer, *model.chat, settings.maxTokens,
                          own->atOnce)
                   .messages;
    }
    story.serve(queryJson, m_writer->write(query, settings, stop, orders));
  } catch (const Failure& failure) {
    traced.problem = failure.what();
    return traced;
  }
  if (stop.stop_requested()) return std::nullopt;
  traced.events = story.events();
  return traced;
}

/// Serves an earlier query as spans.
void SimulatorPredictor::takeSpans(const SentQuery& sent) {
  const query::ParseResult parsed = query::parseJson(sent.queryJson);
  if (!parsed.query) return;
  try {
    const plan::Plan plan = chatPlan(*parsed.query, sent.settings);
    const exports::StepRequests made = exports::stepRequests(plan, {});
    const auto answerOf = [&](std::size_t request) {
      const plan::Step& step = plan.steps[made.stepOf[request]];
      const auto found = sent.answers.find({step.node, step.copy});
      return found == sent.answers.end() ? std::string() : found->second.text;
    };
    for (exports::ChatRequest request : made.requests) {
      for (exports::ChatMessage& message : request.messages)
        if (message.answerOf) message.content = answerOf(*message.answerOf);
      m_spans.serve(m_writer->part(request));
    }
  } catch (const Failure&) {
    return;  // A query that no server would have got leaves nothing in the caches.
  }
}

void SimulatorPredictor::takeOne(const SentQuery& sent, const std::stop_token& stop) {
  const std::vector<ServerPrompt> prompts = promptsOf(sent, stop);
  if (stop.stop_requested()) return;
  takeSpans(sent);
  for (Place& place : m_places) {
    std::vector<ServerPrompt> own;
    for (const ServerPrompt& prompt : prompts) {
      if (place.gets(prompt)) own.push_back(prompt);
    }
    if (own.empty()) continue;
    answersOf(*place.simulator, own, place.atOnce);
    place.prediction.earlier += own.size();
  }
}

namespace {

/// A token that is not sampled yet is shown as a gap.
std::string tokenText(const text::Tokenizer& tokenizer, TokenId token) {
  return token < 0 ? std::string("…") : tokenizer.display(token);
}

}  // namespace

SimulatedTrace::SimulatedTrace(SimulatedTraceTitle title, simulator::Simulator& simulator,
                               std::shared_ptr<const text::Tokenizer> tokenizer)
    : m_title(std::move(title)),
      m_simulator(simulator),
      m_tracer({.program = simulator::tracedProgram(*m_title.server),
                .setup = m_title.setup,
                .model = m_title.model,
                .shape = simulator.shape()},
               [tokenizer = std::move(tokenizer)](TokenId token) { return tokenText(*tokenizer, token); }) {}

void SimulatedTrace::note(const simulator::TracedRequest& about, std::string text) {
  m_tracer.emitEvent(about, trace::MessageLogged{.severity = Severity::Note, .text = std::move(text)});
}

void SimulatedTrace::tracePrompt(const simulator::TracedRequest& about, const ServerPrompt& prompt) {
  m_tracer.emitEvent(about, trace::StepStarted{.step = about.step, .copy = prompt.name.second});
  std::vector<trace::SegmentInfo> segments = run::segmentsOf(prompt.table);
  for (trace::SegmentInfo& segment : segments)
    for (const TokenId token : segment.tokens) segment.texts.push_back(m_tracer.shown(token));
  m_tracer.emitEvent(about, trace::SpanTableLaidOut{.segments = std::move(segments)});
  if (trace::PromptDivided parts = run::partsEvent(prompt.table); !parts.parts.empty())
    m_tracer.emitEvent(about, std::move(parts));
  if (prompt.holdsAnswer)
    note(about,
         "The prompt contains an answer that is not sampled yet. The answer counts with its max length.");
}

void SimulatedTrace::traceAnswer(const simulator::TracedRequest& about, const ServerPrompt& prompt,
                                 const simulator::Answer& answer) {
  if (!answer.place.empty()) note(about, "The request goes to " + answer.place + ".");
  for (const simulator::FateRun& run : answer.fates) {
    const bool isFound = run.fate == simulator::Fate::Found || run.fate == simulator::Fate::Moved;
    const std::string which = run.count == 1 ? "Token " + std::to_string(run.begin) + " is "
                                             : "Tokens " + std::to_string(run.begin) + " to " +
                                                   std::to_string(run.begin + run.count - 1) + " are ";
    note(about,
         which + (isFound ? "cached: " : "computed: ") + simulator::whyAt(*m_title.server, run.fate) + ".");
  }
  const std::vector<TokenId>& tokens = prompt.answerTokens;
  if (!tokens.empty() && tokens.front() < 0)
    note(about, "The answer is not known yet. " + counted(tokens.size(), "unknown token", "unknown tokens") +
                    " are in the prompt instead.");
  // The server read the prompt, even if the answer is not known.
  trace::StepFinished finished{
      .step = about.step, .outcome = trace::StepOutcome::EndToken, .text = prompt.answer.text};
  if (answer.isRefused) {
    finished.outcome = trace::StepOutcome::Failed;
  } else if (!prompt.answer.endedItself) {
    finished.outcome = trace::StepOutcome::TokenLimit;
  }
  m_tracer.emitEvent(about, std::move(finished));
}

std::vector<simulator::Answer> SimulatedTrace::serve(const std::string& queryJson,
                                                     const std::vector<ServerPrompt>& prompts) {
  simulator::TracedRequest about{.run = ++m_run};
  m_tracer.emitEvent(
      about,
      trace::RunStarted{.queryJson = queryJson, .policy = simulator::tracedPolicy(m_title.name), .seed = 0});
  trace::PlanMade plan;
  for (StepIndex step = 0; step < prompts.size(); ++step) {
    const StepName& name = prompts[step].name;
    plan.steps.push_back({.step = step, .node = name.first, .copy = name.second, .ply = 0, .needs = {}});
  }
  m_tracer.emitEvent(about, std::move(plan));
  std::vector<simulator::Answer> answers(prompts.size());
  bool isWhole = true;
  for (const SentPrompt& sent : sentOrder(prompts, m_title.atOnce)) {
    const auto step = static_cast<StepIndex>(sent.index);
    const ServerPrompt& prompt = prompts[step];
    about = {.run = m_run, .request = ++m_request, .node = prompt.name.first, .step = step};
    m_tracer.follow(simulator::kServedName, about);
    tracePrompt(about, prompt);
    answers[step] = m_simulator.serve(
        {.prompt = prompt.tokens(), .answer = prompt.answerTokens, .salt = {}, .isBeside = sent.isBeside},
        &m_tracer);
    traceAnswer(about, prompt, answers[step]);
    isWhole = isWhole && !answers[step].isRefused;
  }
  const trace::RunOutcome outcome = isWhole ? trace::RunOutcome::Finished : trace::RunOutcome::Failed;
  m_tracer.emitEvent({.run = m_run}, trace::RunFinished{.outcome = outcome, .answer = {}});
  return answers;
}

namespace {

/// Returns a number that a cache simulator accepts. 0: the server reported no number, or a number that is too
/// large for a simulator.
template <class Number>
Number within(std::optional<std::int64_t> said, std::int64_t most) {
  return static_cast<Number>(said.value_or(0) > 0 && *said <= most ? *said : 0);
}

SimulatorSetup llamaSetup(std::optional<std::int64_t> slots, const remote::CacheFacts& cache) {
  constexpr std::int64_t kMostSlots = 4096;
  constexpr std::int64_t kMostContext = std::int64_t{1} << 30U;
  // By default, llama-server has four slots that share one context. With any number in its options, each slot
  // has its own context. The server does not report this option, and users rarely choose four slots.
  constexpr std::int64_t kByItself = 4;
  SimulatorSetup setup{.settings = {}, .isAsSaid = slots.has_value()};
  const bool isShared = slots.value_or(kByItself) == kByItself;
  if (!isShared) setup.settings.slots = within<std::int32_t>(slots, kMostSlots);
  const auto parts = std::max<std::int64_t>(1, setup.settings.slots);
  if (cache.slotTokens && *cache.slotTokens <= kMostContext)
    setup.settings.cacheTokens = within<std::int64_t>(*cache.slotTokens * parts, kMostContext);
  setup.settings.tokenBytes = within<std::int64_t>(cache.tokenBytes, kMostContext);
  return setup;
}

}  // namespace

std::optional<std::int64_t> cachedTokenBytes(const std::filesystem::path& model) {
  constexpr std::int64_t kBytes = 2;  // f16
  try {
    const model::ModelConfig config = model::readConfig(checkpoint::Checkpoint(model));
    std::int64_t numbers = 0;
    for (std::int32_t layer = 0; layer < config.storingLayers(); ++layer) {
      const model::AttentionKind& kind = config.kind(config.kindOf(layer));
      numbers += std::int64_t{2} * config.keyValueHeadsOf(kind) * config.headSizeOf(kind);
    }
    return numbers * kBytes;
  } catch (const Failure&) {
    return std::nullopt;
  }
}

SimulatorSetup simulatorSetup(remote::ServerKind kind, std::optional<std::int64_t> slots,
                              const remote::CacheFacts& cache) {
  if (kind == remote::ServerKind::LlamaCpp) return llamaSetup(slots, cache);
  constexpr std::int64_t kMostBlockSize = std::int64_t{1} << 20U;
  constexpr std::int64_t kMostTokens = std::int64_t{1} << 30U;
  SimulatorSetup setup{.settings = {}, .isAsSaid = cache.blockSize || cache.cacheTokens};
  setup.settings.blockSize = within<std::int32_t>(cache.blockSize, kMostBlockSize);
  setup.settings.cacheTokens = within<std::int64_t>(cache.cacheTokens, kMostTokens);
  if (setup.settings.cacheTokens < setup.settings.blockSize) setup.settings.cacheTokens = 0;
  if (!cache.findsPrefixes.value_or(true)) setup.problem = "the prefix caching of the server is off";
  return setup;
}

std::string simulatorTitle(const simulator::Server& server, const std::string& version) {
  const std::string title = std::string(server.title) + " ";
  if (version.empty() || version == server.version) return title + server.version;
  return title + version + " by the rules of " + server.version;
}

std::string foundText(const PredictedReuse& predicted) {
  if (predicted.isExact()) return std::to_string(predicted.found);
  return std::to_string(predicted.least) + "–" + std::to_string(predicted.most);
}

std::optional<ServerSimulators::Sent> ServerSimulators::send(const std::string& server,
                                                             const remote::ServerFacts& facts,
                                                             std::vector<TokenId> prompt) {
  if (prompt.empty()) return std::nullopt;
  const std::lock_guard lock(m_mutex);
  Known* const found = known(server, facts);
  if (found == nullptr) return std::nullopt;
  Known& own = *found;
  const simulator::Server* const kind = simulator::findServer(remote::infoOf(facts.kind).name);
  UnderWay sent{.number = ++m_last, .prompt = std::move(prompt), .isBeside = !own.sent.empty()};
  std::vector<const UnderWay*> all;
  std::vector<const UnderWay*> ended;
  for (const UnderWay& each : own.sent) {
    all.push_back(&each);
    if (each.hasEnded) ended.push_back(&each);
  }
  if (hasRoom(own, &sent)) serveAlone(own, sent);
  const std::int64_t hits = hitsAfter(own, all, sent);
  // The server may compute this prompt before the unfinished prompts.
  const std::int64_t alone = ended.size() == all.size() ? hits : hitsAfter(own, ended, sent);
  Sent made{.predicted = {.prompt = static_cast<std::int64_t>(sent.prompt.size()),
                          .found = hits,
                          .simulator = kind == nullptr ? "" : simulatorTitle(*kind, facts.version),
                          .least = std::min(hits, alone),
                          .most = std::max(hits, alone)},
            .number = sent.number};
  own.sent.push_back(std::move(sent));
  return made;
}

bool ServerSimulators::hasRoom(const Known& own, const UnderWay* sent) {
  const std::optional<std::int64_t> room = own.simulator->room();
  if (!room) return false;
  const std::int64_t block = own.simulator->shape().blockSize;
  std::int64_t tokens = 0;
  const auto add = [&](const UnderWay& each) {
    tokens += static_cast<std::int64_t>(each.prompt.size() + each.answer.size()) + 2 * block;
  };
  if (sent != nullptr) add(*sent);
  for (const UnderWay& each : own.sent) {
    if (each.alone == nullptr) return false;
    if (&each != sent) add(each);
  }
  return tokens <= *room;
}

void ServerSimulators::serveAlone(const Known& own, UnderWay& sent) {
  sent.alone = own.server->open(own.settings);
  serve(*sent.alone, sent);
}

std::int64_t ServerSimulators::hitsAfter(const Known& own, const std::vector<const UnderWay*>& before,
                                         const UnderWay& sent) {
  if (hasRoom(own, &sent)) {
    // A copy of the simulator would take time in proportion to its cache.
    const std::span<const TokenId> beginning(sent.prompt.data(), sent.prompt.size() - 1);
    std::int64_t hits = own.simulator->cachedBeginnings()(beginning);
    for (const UnderWay* each : before) hits = std::max(hits, each->alone->cachedBeginnings()(beginning));
    return hits;
  }
  const std::unique_ptr<simulator::Simulator> now = own.simulator->copy();
  for (const UnderWay* each : before) serve(*now, *each);
  return serve(*now, sent).cached;
}

ServerSimulators::Known* ServerSimulators::known(const std::string& server,
                                                 const remote::ServerFacts& facts) {
  const simulator::Server* kind = simulator::findServer(remote::infoOf(facts.kind).name);
  SimulatorSetup setup;
  if (kind != nullptr) {
    setup = simulatorSetup(facts.kind, facts.slots, facts.cache);
  } else if (facts.kind == remote::ServerKind::OpenAi || facts.kind == remote::ServerKind::Ollama ||
             facts.kind == remote::ServerKind::LmStudio) {
    // The rules of these servers are not known. Without a limit, SGLang's cache is a tree of all prompts.
    kind = &simulator::kSglang;
  }
  if (kind == nullptr || !setup.problem.empty()) return nullptr;
  Known& own = m_simulators[server];
  const bool isAsBefore = own.kind == facts.kind && own.slots == facts.slots && own.cache == facts.cache;
  if (own.simulator == nullptr || !isAsBefore)
    own = {.kind = facts.kind,
           .server = kind,
           .settings = setup.settings,
           .slots = facts.slots,
           .cache = facts.cache,
           .simulator = kind->open(setup.settings)};
  return &own;
}

std::optional<simulator::ChosenOrder> ServerSimulators::order(const std::string& server,
                                                              const remote::ServerFacts& facts,
                                                              const simulator::PromptPart& prompt,
                                                              PlannedOrder planned) {
  const std::lock_guard lock(m_mutex);
  Known* const own = known(server, facts);
  if (own == nullptr) return std::nullopt;
  std::unique_ptr<simulator::Simulator> later;
  simulator::CachedTokens cached;
  if (!own->sent.empty() && hasRoom(*own, nullptr)) {
    std::vector<simulator::CachedTokens> all{own->simulator->cachedBeginnings()};
    for (const UnderWay& each : own->sent) all.push_back(each.alone->cachedBeginnings());
    cached = [all = std::move(all)](std::span<const TokenId> beginning) {
      std::int64_t most = 0;
      for (const simulator::CachedTokens& each : all) most = std::max(most, each(beginning));
      return most;
    };
  } else {
    if (!own->sent.empty()) {
      later = own->simulator->copy();
      for (const UnderWay& each : own->sent) serve(*later, each);
    }
    cached = (later == nullptr ? *own->simulator : *later).cachedBeginnings();
  }
  simulator::OrderRules rules = orderRules(*own->simulator);
  rules.first = std::move(planned.first);
  rules.kept = planned.kept;
  return simulator::chooseOrder(prompt, cached, m_counts[server], rules);
}

void ServerSimulators::expect(const std::string& server, const std::vector<simulator::PromptPart>& prompts) {
  const std::lock_guard lock(m_mutex);
  simulator::PartCounts& counts = m_counts[server];
  for (const simulator::PromptPart& prompt : prompts) counts.add(prompt);
}

void ServerSimulators::end(const std::string& server, std::uint64_t number,
                           std::optional<std::vector<TokenId>> answer, PredictedReuse* predicted) {
  const std::lock_guard lock(m_mutex);
  const auto own = m_simulators.find(server);
  if (own == m_simulators.end()) return;
  std::vector<UnderWay>& sent = own->second.sent;
  const auto ended = std::ranges::find(sent, number, &UnderWay::number);
  // The server may have restarted with other settings since then.
  if (ended == sent.end()) return;
  if (predicted != nullptr && sent.size() > 1) {
    // The server may also have computed later prompts first, and in any order.
    std::vector<const UnderWay*> others;
    for (const UnderWay& each : sent)
      if (each.number != number) others.push_back(&each);
    for (int turn = 0; turn < 2; ++turn) {
      const std::int64_t hits = hitsAfter(own->second, others, *ended);
      predicted->least = std::min(predicted->least, hits);
      predicted->most = std::max(predicted->most, hits);
      std::ranges::reverse(others);
    }
  }
  // A server with slots assigns a slot before it refuses a prompt. The simulator does the same.
  const simulator::Simulator& now = *own->second.simulator;
  if (!answer && !now.room() &&
      now.copy()->serve({.prompt = ended->prompt, .answer = {}, .salt = {}}).isRefused)
    answer.emplace();
  if (answer) {
    ended->answer = std::move(*answer);
    ended->hasEnded = true;
    if (ended->alone != nullptr) serveAlone(own->second, *ended);
  } else {
    // The next prompt is concurrent with the prompts that this prompt was concurrent with.
    if (const auto next = ended + 1; next != sent.end()) next->isBeside = next->isBeside && ended->isBeside;
    sent.erase(ended);
  }
  const auto first = std::ranges::find_if(sent, [](const UnderWay& each) { return !each.hasEnded; });
  for (auto each = sent.begin(); each != first; ++each) {
    serve(*own->second.simulator, *each);
    if (m_keepsHistory)
      own->second.past.push_back({std::move(each->prompt), std::move(each->answer), each->isBeside});
  }
  sent.erase(sent.begin(), first);
}

void ServerSimulators::keepHistory() {
  const std::lock_guard lock(m_mutex);
  m_keepsHistory = true;
}

ServerHistory ServerSimulators::history(const std::string& server) {
  const std::lock_guard lock(m_mutex);
  ServerHistory history;
  if (const auto own = m_simulators.find(server); own != m_simulators.end())
    history.prompts = own->second.past;
  history.counts = m_counts[server].all();
  return history;
}

void ServerSimulators::recall(const std::string& server, const remote::ServerFacts& facts,
                              const ServerHistory& history) {
  const std::lock_guard lock(m_mutex);
  for (const auto& [content, count] : history.counts) m_counts[server].add(content, count);
  Known* const own = known(server, facts);
  if (own == nullptr) return;
  for (const PastPrompt& past : history.prompts) {
    own->simulator->serve(
        {.prompt = past.prompt, .answer = past.answer, .salt = {}, .isBeside = past.isBeside});
    if (m_keepsHistory) own->past.push_back(past);
  }
}

simulator::Answer ServerSimulators::serve(simulator::Simulator& simulator, const UnderWay& sent) {
  return simulator.serve(
      {.prompt = sent.prompt, .answer = sent.answer, .salt = {}, .isBeside = sent.isBeside});
}

std::vector<TokenId> chatTokens(const std::vector<exports::ChatMessage>& messages,
                                const text::Tokenizer& tokenizer, const text::ChatTemplate& chat) {
  std::vector<text::ConversationMessage> conversation;
  for (const exports::ChatMessage& message : messages)
    conversation.push_back({message.role, message.content});
  return text::renderConversation(chat, tokenizer, conversation).ids();
}

}  // namespace spanscope::workbench
