// SPDX-License-Identifier: GPL-3.0-or-later
// Predicts what the caches of other servers would reuse of a query after earlier queries. Open this file to
// change the prediction view.
//
// Keeps cache simulators (engine/simulator) of servers. A simulator contains every request that this program
// has sent to its server. A run can then compare the predicted reuse of each prompt with the server's report.
// Open this file when such a prediction is wrong.
#pragma once

#include "engine/base/ids.h"
#include "engine/export/chat_requests.h"
#include "engine/query/query.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/simulator/order/child_order.h"
#include "engine/simulator/servers.h"
#include "engine/simulator/tracing/cache_tracer.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/event.h"
#include "engine/workbench/servers/order_comparison.h"
#include "engine/workbench/servers/server_requests.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::workbench {

/// A simulator with the settings that its server reports. Other settings have their defaults.
struct SimulatorSetup {
  simulator::Settings settings;
  bool isAsSaid = false;  ///< the server reports some of the settings
  std::string
      problem{};  ///< the reason why nothing is predicted, in a sentence; empty: there is a prediction
};
/// `slots` and `cache`: as the server reported them.
SimulatorSetup simulatorSetup(remote::ServerKind kind, std::optional<std::int64_t> slots,
                              const remote::CacheFacts& cache);

/// Returns the bytes of the keys and values of a token in 16-bit numbers, for CacheFacts::tokenBytes.
/// Nothing: the configuration of the model cannot be read.
std::optional<std::int64_t> cachedTokenBytes(const std::filesystem::path& model);

/// A simulator's prediction for a prompt. The order in which a server computes concurrent requests is not
/// known. The number of hits is then a range.
struct PredictedReuse {
  std::int64_t prompt = 0;  ///< tokens
  std::int64_t found = 0;   ///< number of these tokens that are hits, if the server keeps the sent order
  std::string simulator;    ///< simulatorTitle()
  std::int64_t least = 0;   ///< min number of hits over the tried orders of concurrent requests
  std::int64_t most = 0;    ///< max number of hits; equal to `least` without concurrent requests
  bool isExact() const { return least == most; }
  bool contains(std::int64_t hits) const { return least <= hits && hits <= most; }
  bool operator==(const PredictedReuse&) const = default;
};
/// Returns "64", or "0–64" for a range.
std::string foundText(const PredictedReuse& predicted);

/// A prompt that a server has computed, with its sampled answer.
struct PastPrompt {
  std::vector<TokenId> prompt;  ///< at least one token
  std::vector<TokenId> answer;
  bool isBeside = false;  ///< the prompt arrived while the server computed the previous prompt
  bool operator==(const PastPrompt&) const = default;
};

/// The requests of this program to one server, so that a later program can continue with the same cache.
struct ServerHistory {
  std::vector<PastPrompt> prompts;  ///< the oldest first
  /// The number of prompts with each child of a plus, as PartCounts::all().
  std::vector<std::pair<std::uint64_t, std::uint32_t>> counts;
  bool operator==(const ServerHistory&) const = default;
};

/// Returns "vLLM 0.33.0", with a longer text for a server of another version. `version` is the server's own.
/// Empty: not reported.
std::string simulatorTitle(const simulator::Server& server, const std::string& version);

/// The place of the children of a prompt in a simulator::SendingPlan.
struct PlannedOrder {
  std::vector<std::uint64_t> first{};  ///< OrderRules::first
  std::size_t kept = 0;                ///< OrderRules::kept
};

/// A simulator knows all requests of this program to its server. A simulator does not know requests of other
/// programs. Any thread may call the functions.
class ServerSimulators {
 public:
  /// A prompt in progress.
  struct Sent {
    PredictedReuse predicted;  ///< without a title: the kind of server has no simulator, so this is no
                               ///< prediction
    std::uint64_t number = 0;  ///< for end()
  };
  /// Sends a prompt to the simulator of a server. Opens a simulator if there is none yet, or if the server's
  /// settings changed. The prompt arrives while other prompts are unfinished. Nothing: that kind of server
  /// has no simulator, or reports that it reuses nothing. Throws Failure if the simulator throws Failure.
  std::optional<Sent> send(const std::string& server, const remote::ServerFacts& facts,
                           std::vector<TokenId> prompt);
  /// Chooses the order of a prompt for the present cache of a server. A kind of server without a simulator
  /// counts as a tree of all prompts, without evictions. Nothing: the server has no prefix caching, or
  /// reports that prefix caching is off.
  std::optional<simulator::ChosenOrder> order(const std::string& server, const remote::ServerFacts& facts,
                                              const simulator::PromptPart& prompt, PlannedOrder planned = {});
  /// Counts the parts of prompts that the server will get. Parts of many prompts come first in later orders.
  void expect(const std::string& server, const std::vector<simulator::PromptPart>& prompts);
  /// Ends a prompt with its sampled answer. Nothing: the server has not computed the prompt, or has another
  /// model. The prompt then leaves nothing in the simulator's cache. Every sent prompt must be ended. Widens
  /// `predicted`, the result of send(), by the prompts that were sent since then. `predicted` may be null.
  void end(const std::string& server, std::uint64_t number, std::optional<std::vector<TokenId>> answer,
           PredictedReuse* predicted = nullptr);

  /// From now on, history() has all prompts that end. The memory grows with every prompt.
  void keepHistory();
  ServerHistory history(const std::string& server);
  /// Serves an earlier history to the simulator of a server.
  void recall(const std::string& server, const remote::ServerFacts& facts, const ServerHistory& history);

 private:
  struct UnderWay {
    std::uint64_t number = 0;
    std::vector<TokenId> prompt;
    std::vector<TokenId> answer{};  ///< once the prompt has ended
    bool isBeside = false;
    bool hasEnded = false;
    std::unique_ptr<simulator::Simulator> alone{};  ///< has served only this prompt; null without room()
  };
  struct Known {
    remote::ServerKind kind = remote::ServerKind::OpenAi;
    const simulator::Server* server = nullptr;  ///< of the simulator; never null if `simulator` is not null
    simulator::Settings settings{};
    std::optional<std::int64_t> slots;
    remote::CacheFacts cache;
    std::unique_ptr<simulator::Simulator> simulator{};  ///< the state before the first prompt of `sent`
    std::vector<UnderWay> sent{};                       ///< in order; the first has not ended
    std::vector<PastPrompt> past{};                     ///< if the history is kept
  };

  static simulator::Answer serve(simulator::Simulator& simulator, const UnderWay& sent);
  /// Whether the unfinished prompts and this prompt fit without an eviction.
  static bool hasRoom(const Known& own, const UnderWay* sent);
  static void serveAlone(const Known& own, UnderWay& sent);
  static std::int64_t hitsAfter(const Known& own, const std::vector<const UnderWay*>& before,
                                const UnderWay& sent);
  /// Returns the simulator of a server. Opens one if there is none yet, or if the server's settings changed.
  /// Null: the server has no prefix caching. The mutex must be locked.
  Known* known(const std::string& server, const remote::ServerFacts& facts);

  std::mutex m_mutex;
  std::uint64_t m_last = 0;
  bool m_keepsHistory = false;
  std::map<std::string, Known> m_simulators;
  std::map<std::string, simulator::PartCounts> m_counts;
};

/// Returns the tokens of a chat for a server with the same tokenizer and chat template. Throws Failure if the
/// template has no turn for a role.
std::vector<TokenId> chatTokens(const std::vector<exports::ChatMessage>& messages,
                                const text::Tokenizer& tokenizer, const text::ChatTemplate& chat);

/// The number of reused tokens of a prompt over the tried cases. The cases differ in the lengths of answers
/// and in the order of concurrent requests. Lengths and order are unknown in advance.
struct FoundRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
  bool isExact() const { return least == most; }
  bool operator==(const FoundRange&) const = default;
};

struct FoundRanges {
  std::vector<FoundRange> prompts;  ///< of each prompt
  FoundRange all;  ///< of all prompts together; a prompt may lose hits that another prompt gains
  bool operator==(const FoundRanges&) const = default;
};

/// Copies of a simulator. Each copy serves the same prompts in another case.
class SimulatorCases {
 public:
  /// The copies have the history of the given simulator.
  explicit SimulatorCases(const simulator::Simulator& simulator);
  /// `answers`: the answers of the simulator itself, by prompt.
  FoundRanges serve(const std::vector<ServerPrompt>& prompts, const std::vector<simulator::Answer>& answers,
                    std::size_t atOnce, const std::stop_token& stop);

 private:
  std::vector<std::unique_ptr<simulator::Simulator>> m_simulators;
  std::uint64_t m_served = 0;  ///< number of prompts
};

/// A simulator's predictions for the prompts of a query.
struct SimulatorPrediction {
  /// Returns "vLLM", "llama.cpp, one slot" or "gpu-3, vLLM".
  std::string name() const;

  std::string id;      ///< "vllm", "llama.cpp, one slot"; for a server of the user's list "server gpu-3"
  std::string server;  ///< its name in the user's list; empty: any server of the kind, with default options
  const simulator::Server* kind = nullptr;  ///< null: there is no simulator; `problem` has the reason
  std::string version;                      ///< of a named server, as reported; empty: not reported
  std::string setup;                        ///< "blocks of 16 tokens"
  bool isAsSaid = false;  ///< of a named server: the server reports these settings; else they are assumed
  std::string
      problem;  ///< the reason why there is no prediction, in a sentence; empty: there is a prediction
  std::int32_t blockSize = 0;              ///< tokens that are drawn as one block
  std::size_t earlier = 0;                 ///< number of earlier requests to its cache
  std::vector<simulator::Answer> present;  ///< for each prompt, after the earlier ones
  std::vector<simulator::Answer> empty;    ///< for each prompt, with an empty cache
  FoundRanges presentRange;                ///< of `present`
  FoundRanges emptyRange;                  ///< of `empty`.
  /// The written order, the best order and spans, after the earlier requests.
  OrderReuse orders{};
  /// For a server that gets the best order: the prompts of `present` and `empty`. Empty: the prompts of
  /// SimulatorPredictions.
  std::vector<ServerPrompt> prompts{};
  bool operator==(const SimulatorPrediction&) const = default;
};

struct SimulatorPredictions {
  std::string problem;  ///< the reason why there are no prompts, in a sentence; empty: there are prompts
  std::vector<ServerPrompt> prompts;
  std::vector<SimulatorPrediction> simulators;
};

/// The activity of a simulator's cache for earlier queries and one query, as a trace.
struct TracedPrediction {
  std::string problem;  ///< the reason why there is no trace, in a sentence; empty: there is a trace
  std::string name;     ///< "vLLM", "llama.cpp, one slot", "gpu-3, vLLM"
  std::vector<trace::Event> events;
  std::vector<RunId> before;  ///< the runs of the queries of runs 1, 2, …; the last run has the query
};

/// Returns the answers for prompts of a server with this simulator, `atOnce` at the same time, in their own
/// order.
std::vector<simulator::Answer> answersOf(simulator::Simulator& simulator,
                                         const std::vector<ServerPrompt>& prompts, std::size_t atOnce);

/// The known facts of a server in the user's list.
struct NamedSimulator {
  std::string server;
  std::string kind;  ///< remote::ServerKindInfo::name; empty: the server has not reported its kind yet
  std::optional<std::int64_t> slots{};  ///< as reported, like the next one
  remote::CacheFacts cache{};
  bool takesSpans = false;    ///< the server gets whole queries, which simulators do not support
  bool keepsOrder = false;    ///< NamedServer::keepsOrder
  bool hasOrderNote = false;  ///< NamedServer::hasOrderNote
  std::size_t atOnce = 0;     ///< NamedServer::atOnce
  std::string version{};      ///< as reported; empty: not reported
  /// ServerFacts::protocols of a server that uses the first protocol that can express a query. `takesSpans`
  /// then follows from the query. Empty: the user chose the protocol of the server.
  std::vector<std::string> protocols{};
  bool operator==(const NamedSimulator&) const = default;
};

/// The model whose tokens are counted. A server has its own model. The prediction is right if that model has
/// the same tokenizer and chat template.
struct PromptModel {
  std::string id;  ///< different for another tokenizer or template
  std::shared_ptr<const text::Tokenizer> tokenizer;
  const text::ChatTemplate* chat = nullptr;
};

/// Keeps its results for the next query. Not thread-safe.
class SimulatorPredictor {
 public:
  /// Predicts a query. `sent` are the earlier queries, in order. Servers with default options have had all
  /// earlier queries. Servers of the user's list have had their own queries. Faults of the query are in the
  /// result and are not thrown. Returns nothing when prediction is stopped.
  std::optional<SimulatorPredictions> prediction(const PromptModel& model, const query::Node& query,
                                                 const RunSettings& settings,
                                                 const std::vector<SentQuery>& sent,
                                                 const std::vector<NamedSimulator>& named,
                                                 const std::stop_token& stop);

  /// Traces the simulator of the prediction with this SimulatorPrediction::id, from an empty cache on. With
  /// `afterSent`, the simulator serves the earlier queries first, and then the query. `queryJson` is the
  /// canonical text of the query. Reports faults like prediction(). Returns nothing when tracing is stopped.
  std::optional<TracedPrediction> trace(const PromptModel& model, const query::Node& query,
                                        const std::string& queryJson, const RunSettings& settings,
                                        const std::vector<SentQuery>& sent,
                                        const std::vector<NamedSimulator>& named, const std::string& place,
                                        bool afterSent, const std::stop_token& stop);

  /// Returns a result without predictions, with this reason.
  static SimulatorPredictions without(const std::string& problem, const std::vector<NamedSimulator>& named);

 private:
  void useModel(const PromptModel& model);
  bool take(const std::vector<SentQuery>& sent, const std::vector<NamedSimulator>& named,
            const std::stop_token& stop);
  void takeOne(const SentQuery& sent, const std::stop_token& stop);
  void takeSpans(const SentQuery& sent);

  /// Returns the prompts of an earlier query, or none if no server would have got it.
  std::vector<ServerPrompt> promptsOf(const SentQuery& sent, const std::stop_token& stop);

  /// A server that has got the earlier queries.
  struct Place {
    SimulatorPrediction prediction;  ///< without answers
    simulator::Settings settings;
    std::unique_ptr<simulator::Simulator> simulator;  ///< null: there is no simulator
    bool isSilent = false;                            ///< the simulator has no prediction for any query
    std::size_t atOnce = 1;                           ///< max requests of a run at the same time
    bool isOrdered = false;                           ///< gets the best order
    bool hasOrderNote = false;                        ///< gets the notes of this order

    bool gets(const ServerPrompt& prompt);
  };
  static Place standardPlace(const std::string& id, const simulator::Server& kind,
                             const simulator::Settings& settings);
  static Place namedPlace(const NamedSimulator& named);
  static std::vector<Place> placesFor(const std::vector<NamedSimulator>& named);

  std::string m_model;
  std::unique_ptr<PromptWriter> m_writer;
  std::vector<NamedSimulator> m_named;
  std::vector<Place> m_places;
  std::vector<RunId> m_taken;
  SpanCache m_spans;  ///< has all earlier queries
};

/// The title of a SimulatedTrace: its simulator and settings.
struct SimulatedTraceTitle {
  const simulator::Server* server = nullptr;  ///< never null
  std::string name;                           ///< "vLLM", "gpu-3, vLLM"
  std::string setup;                          ///< "blocks of 16 tokens"
  std::string model;                          ///< directory of the model of its tokens
  std::size_t atOnce = 1;                     ///< max requests of a query at the same time
};

/// Serves queries one after the other with a simulator and writes a trace, with a run for each query. The
/// trace has only known answers. An unknown answer takes as much space as the expected number of tokens.
class SimulatedTrace {
 public:
  /// The simulator must outlive this object.
  SimulatedTrace(SimulatedTraceTitle title, simulator::Simulator& simulator,
                 std::shared_ptr<const text::Tokenizer> tokenizer);

  /// Serves the prompts of a query as one run, in sending order. Returns the prediction for each, in the
  /// order of the query.
  std::vector<simulator::Answer> serve(const std::string& queryJson,
                                       const std::vector<ServerPrompt>& prompts);
  std::vector<trace::Event> events() const { return m_tracer.events(); }

 private:
  void tracePrompt(const simulator::TracedRequest& about, const ServerPrompt& prompt);
  void traceAnswer(const simulator::TracedRequest& about, const ServerPrompt& prompt,
                   const simulator::Answer& answer);
  void note(const simulator::TracedRequest& about, std::string text);

  SimulatedTraceTitle m_title;
  simulator::Simulator& m_simulator;
  simulator::CacheTracer m_tracer;
  RunId m_run = 0;
  RequestId m_request = 0;
};

}  // namespace spanscope::workbench
