// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/remote_query.h"

#include "app/cli/diagnostics.h"
#include "app/cli/export_options.h"
#include "app/cli/input.h"
#include "engine/base/error.h"
#include "engine/export/export_target.h"
#include "engine/remote/completions/completions_protocol.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/servers/sent_prompts.h"
#include "engine/workbench/servers/server_requests.h"

#include <filesystem>
#include <utility>

namespace spanscope::cli {

namespace {

/// If the protocol cannot send the query, returns nothing and reports the reason on standard error.
std::optional<RemoteRequests> requestsFor(const remote::Protocol& protocol, const RemoteRunOptions& options,
                                          const query::Node& query, const std::string& name,
                                          const QueryFile* file, const Streams& streams) {
  if (!warnOf(protocol, options, query, name, file, streams)) return std::nullopt;
  if (options.seed && !protocol.takesSeeds)
    streams.err << /*id:seed-not-sent*/ "warning: the seed is not sent: " << protocol.title
                << " has no field for a seed\n";
  RemoteRequests made;
  std::vector<Error> problems;
  if (protocol.takesCalls) {
    exports::QueryCalls calls = exports::queryCalls(query);
    made.messages =
        workbench::asMessages(calls.requests, exports::chatRequests(query, options.seed).requests);
    made.requests = std::move(calls.requests);
    made.calls = std::move(calls.calls);
    problems = std::move(calls.problems);
  } else {
    exports::ChatRequests chats = exports::chatRequests(query, options.seed);
    made.requests = std::move(chats.requests);
    problems = std::move(chats.problems);
  }
  for (const Error& problem : problems) streams.err << name << ": " << Failure(problem).what() << '\n';
  if (made.requests.empty()) return std::nullopt;
  return made;
}

}  // namespace

bool warnOf(const remote::Protocol& protocol, const RemoteRunOptions& options, const query::Node& query,
            const std::string& name, const QueryFile* file, const Streams& streams) {
  return warnOfTarget({.query = query,
                       .target = *exports::findExportTarget(protocol.form),
                       .settings = {.seed = options.seed, .isSentHere = true},
                       .name = name,
                       .file = file},
                      streams);
}

void putPrompt(remote::RemoteTarget& target, const RemoteRunOptions& options, std::ostream& err) {
  if (!target.protocol->needsPrompt) return;
  if (options.chatTemplate.empty() && options.tokenizer.empty()) {
    throw Failure(errorAt(/*id:prompts-text-completions*/ "prompts of text completions", "no chat template",
                          "a template name (--template) or a model with a template (--tokenizer)"));
  }
  const text::ChatTemplate& chat = options.chatTemplate.empty()
                                       ? text::findChatTemplate(options.tokenizer)
                                       : text::chatTemplateNamed(options.chatTemplate);
  target.promptForm = "under the template " + chat.name;
  if (options.tokenizer.empty()) {
    target.prompt = remote::textPrompt(chat);
    target.promptForm += ", as text";
    err << /*id:delimiters-as-text*/ "warning: the delimiters of the template " << chat.name
        << " are sent as text. The server can read these delimiters as plain text, not as control tokens; "
           "--tokenizer sends token ids\n";
  } else {
    target.prompt = remote::tokenPrompt(chat, text::loadTokenizer(options.tokenizer));
    target.promptForm += ", as tokens";
  }
}

std::optional<std::vector<AskedQuery>> readQueries(const Context& context, const RemoteRunOptions& options) {
  QueryOptions given = queryOptions(options.query);
  retrieveWith(given, options.query, context);
  std::vector<AskedQuery> queries;
  for (const std::string& file : options.files) {
    auto read = readFileForServer(file, given, context.streams);
    if (!read) {
      warnOfUnused(given, context.streams);
      return std::nullopt;
    }
    const std::string name = inputName(file);
    query::Node query = localized(read->query, given.plan.locality, name);
    queries.push_back({.name = name,
                       .read = std::move(*read),
                       .query = std::move(query),
                       .isLocalized = given.plan.locality.isOn(),
                       .sent = {}});
  }
  warnOfUnused(given, context.streams);
  return queries;
}

std::string noKnownProtocol() {
  return "The server has no protocol that Spanscope knows: " + remote::protocolNames() +
         ". Check that the address is the address of the API.";
}

bool prepare(AskedQuery& asked, const remote::Protocol* chosen, const remote::ServerFacts* facts,
             const RemoteRunOptions& options, const std::string& url, const Streams& streams) {
  asked.protocol = chosen;
  if (chosen == nullptr) {
    asked.protocol = remote::protocolFor(*facts, asked.query, options.seed);
    if (asked.protocol == nullptr) {
      streams.err << url << ": " << noKnownProtocol() << '\n';
      return false;
    }
  }
  auto sent = requestsFor(*asked.protocol, options, asked.query, asked.name, asked.file(), streams);
  if (sent) asked.sent = std::move(*sent);
  return sent.has_value();
}

std::optional<remote::RemoteTarget> targetFor(const AskedServer& there, const remote::ServerFacts& facts,
                                              const RemoteRunOptions& options, const Streams& streams) {
  remote::RemoteTarget target{.name = there.name, .server = there.server, .facts = facts};
  if (!options.model.empty()) target.server.model = options.model;
  target.server.isUnlisted |= options.isUnlisted;
  target.atOnce = options.atOnce.value_or(there.atOnce);
  if (target.server.model.empty() || remote::servedName(target, {})) return target;
  streams.err << Failure({there.server.url,
                          {},
                          "The server has no model \"" + target.server.model + "\".",
                          "Its models are: " + remote::modelNames(facts) +
                              ". The option --unlisted-model sends another name."})
                     .what()
              << '\n';
  return std::nullopt;
}

void noteModel(remote::ServerFacts& facts, const RemoteRunOptions& options) {
  if (!options.tokenizer.empty()) facts.cache.tokenBytes = workbench::cachedTokenBytes(options.tokenizer);
}

std::optional<OrderModel> orderModel(const RemoteRunOptions& options) {
  try {
    const workbench::RunSettings settings = commandSettings();
    const std::filesystem::path model = options.tokenizer.empty() ? workbench::modelDirectoryOf(settings)
                                                                  : std::filesystem::path(options.tokenizer);
    const text::ChatTemplate& chat = !options.chatTemplate.empty()
                                         ? text::chatTemplateNamed(options.chatTemplate)
                                     : options.tokenizer.empty() ? workbench::chatTemplateOf(settings)
                                                                 : text::findChatTemplate(options.tokenizer);
    return OrderModel{text::loadTokenizer(model), &chat};
  } catch (const Failure&) {
    return std::nullopt;
  }
}
}  // namespace spanscope::cli
