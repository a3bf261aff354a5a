// SPDX-License-Identifier: GPL-3.0-or-later
// What the caches of other servers would find of a query, given the queries that were run before it.
#pragma once

#include "engine/query/query.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/event.h"
#include "engine/twin/servers.h"
#include "engine/twin/telling/cache_teller.h"
#include "engine/workbench/servers/server_prompts.h"
#include "engine/workbench/servers/server_twins.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::workbench {

/// How many tokens of a prompt are found in the cases that were tried: answers of other lengths, and other
/// orders of the requests that a server gets at the same time. Both are not known before.
struct FoundRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
  bool isExact() const { return least == most; }
  bool operator==(const FoundRange&) const = default;
};

struct FoundRanges {
  std::vector<FoundRange> prompts;  ///< of each
  FoundRange all;                   ///< of all together: what one finds first, another may not
  bool operator==(const FoundRanges&) const = default;
};

/// Copies of a twin. Each copy serves the same prompts in another case.
class TwinCases {
 public:
  /// The copies have what `twin` has had.
  explicit TwinCases(const twin::Twin& twin);
  /// `answers`: those of the twin itself, by prompt.
  FoundRanges serve(const std::vector<ServerPrompt>& prompts, const std::vector<twin::Answer>& answers,
                    std::size_t atOnce, const std::stop_token& stop);

 private:
  std::vector<std::unique_ptr<twin::Twin>> m_twins;
  std::uint64_t m_served = 0;  ///< prompts
};

/// What a twin says of the prompts of a query.
struct TwinForecast {
  /// "vLLM", "llama.cpp, one slot", "gpu-3, vLLM"
  std::string name() const;

  std::string id;  ///< "vllm", "llama.cpp, one slot"; of a server of the person's list "server gpu-3"
  std::string
      server;  ///< its name in the person's list; empty: any server of the kind, with standard options
  const twin::Server* kind = nullptr;  ///< null: there is no twin; `problem` says so
  std::string version;                 ///< of a named server, as it says; empty: it does not say
  std::string setup;                   ///< "blocks of 16 tokens"
  bool isAsSaid = false;               ///< of a named server: so it says of itself; else it is supposed so
  std::string problem;                 ///< why it says nothing, in a sentence; empty: it does
  std::int32_t blockSize = 0;          ///< tokens that are drawn as one block
  std::size_t earlier = 0;             ///< requests that its cache has had
  std::vector<twin::Answer> present;   ///< to each prompt, after those that were sent before
  std::vector<twin::Answer> empty;     ///< the same with an empty cache
  FoundRanges presentRange;            ///< of `present`
  FoundRanges emptyRange;              ///< of `empty`
  bool operator==(const TwinForecast&) const = default;
};

struct TwinForecasts {
  std::string problem;  ///< why there are no prompts, in a sentence; empty: there are
  std::vector<ServerPrompt> prompts;
  std::vector<TwinForecast> twins;
};

/// What the cache of a twin does with what was sent before and with a query, as a trace.
struct ToldForecast {
  std::string problem;  ///< why there is none, in a sentence; empty: there is
  std::string name;     ///< "vLLM", "llama.cpp, one slot", "gpu-3, vLLM"
  std::vector<trace::Event> events;
  std::vector<RunId> before;  ///< the runs whose queries the runs 1, 2, … have; the one behind has the query
};

/// The answers to prompts that a server with this twin gets, `atOnce` at the same time, in their own order.
std::vector<twin::Answer> answersOf(twin::Twin& twin, const std::vector<ServerPrompt>& prompts,
                                    std::size_t atOnce);

/// What is known of a server of the person's list.
struct NamedTwin {
  std::string server;
  std::string kind;                     ///< remote::ServerKindInfo::name; empty: it was not asked yet
  std::optional<std::int64_t> slots{};  ///< as it said of itself, as the next
  remote::CacheFacts cache{};
  bool takesSpans = false;  ///< it is sent whole queries, of which twins know nothing
  std::size_t atOnce = 0;   ///< NamedServer::atOnce
  std::string version{};    ///< as it said of itself; empty: it did not
  /// ServerFacts::protocols of a server that is asked in the first one that can carry a query: then
  /// `takesSpans` follows from the query. Empty: its protocol is chosen.
  std::vector<std::string> protocols{};
  bool operator==(const NamedTwin&) const = default;
};

/// The model whose tokens are counted. A server has a model of its own; its twin says what it would find if
/// that has the same tokenizer and chat template.
struct PromptModel {
  std::string id;  ///< another one for another tokenizer or template
  std::shared_ptr<const text::Tokenizer> tokenizer;
  const text::ChatTemplate* chat = nullptr;
};

/// Keeps what it has computed for the next query. Not thread-safe.
class TwinForecaster {
 public:
  /// `sent`: what was run before, in order. Servers with standard options have had all of it; those of the
  /// person's list what they have answered.
  /// What is wrong with the query is not thrown: the result says it. Nothing, if it was stopped.
  std::optional<TwinForecasts> forecast(const PromptModel& model, const query::Node& query,
                                        const RunSettings& settings, const std::vector<SentQuery>& sent,
                                        const std::vector<NamedTwin>& named, const std::stop_token& stop);

  /// What the place with this TwinForecast::id does, from an empty cache on: with what was sent, if
  /// `afterSent`, and then with the query, whose canonical text is `queryJson`. Says what is wrong as
  /// forecast() does. Nothing, if it was stopped.
  std::optional<ToldForecast> tell(const PromptModel& model, const query::Node& query,
                                   const std::string& queryJson, const RunSettings& settings,
                                   const std::vector<SentQuery>& sent, const std::vector<NamedTwin>& named,
                                   const std::string& place, bool afterSent, const std::stop_token& stop);

  /// The places, none of which says anything for this reason.
  static TwinForecasts without(const std::string& problem, const std::vector<NamedTwin>& named);

 private:
  void useModel(const PromptModel& model);
  bool take(const std::vector<SentQuery>& sent, const std::vector<NamedTwin>& named,
            const std::stop_token& stop);
  void takeOne(const SentQuery& sent, const std::stop_token& stop);

  /// The prompts of what was sent; none where no server would have got it.
  std::vector<ServerPrompt> promptsOf(const SentQuery& sent, const std::stop_token& stop);

  /// A server that has got what was sent.
  struct Place {
    TwinForecast forecast;  ///< without answers
    twin::Settings settings;
    std::unique_ptr<twin::Twin> twin;  ///< null: it has none
    bool isSilent = false;             ///< it has nothing to say whatever is sent
    std::size_t atOnce = 1;            ///< requests of a run that it gets at the same time

    bool gets(const ServerPrompt& prompt);
  };
  static Place standardPlace(const std::string& id, const twin::Server& kind, const twin::Settings& settings);
  static Place namedPlace(const NamedTwin& named);
  static std::vector<Place> placesFor(const std::vector<NamedTwin>& named);

  std::string m_model;
  std::unique_ptr<PromptWriter> m_writer;
  std::vector<NamedTwin> m_named;
  std::vector<Place> m_places;
  std::vector<RunId> m_taken;
};

/// Which twin tells.
struct TwinStoryTitle {
  const twin::Server* server = nullptr;  ///< never null
  std::string name;                      ///< "vLLM", "gpu-3, vLLM"
  std::string setup;                     ///< "blocks of 16 tokens"
  std::string model;                     ///< directory of the model whose tokens it gets
  std::size_t atOnce = 1;                ///< requests of a query that it gets at the same time
};

/// Has a twin serve queries one after the other and writes a trace, with a run for each query. The trace has
/// a reply only where it is known. An unknown reply takes the room of as many tokens as one may expect.
class TwinStory {
 public:
  /// `twin` must outlive this object.
  TwinStory(TwinStoryTitle title, twin::Twin& twin, std::shared_ptr<const text::Tokenizer> tokenizer);

  /// Serves the prompts of a query in the order in which they are sent: a run. Gives what is found of each,
  /// in the order of the query.
  std::vector<twin::Answer> serve(const std::string& queryJson, const std::vector<ServerPrompt>& prompts);
  std::vector<trace::Event> events() const { return m_teller.events(); }

 private:
  void tellPrompt(const twin::ToldRequest& about, const ServerPrompt& prompt);
  void tellAnswer(const twin::ToldRequest& about, const ServerPrompt& prompt, const twin::Answer& answer);
  void note(const twin::ToldRequest& about, std::string text);

  TwinStoryTitle m_title;
  twin::Twin& m_twin;
  twin::CacheTeller m_teller;
  RunId m_run = 0;
  RequestId m_request = 0;
};

}  // namespace spanscope::workbench
