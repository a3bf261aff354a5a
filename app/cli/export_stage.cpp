// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/export_stage.h"

#include "engine/base/error.h"
#include "engine/plan/localized_query.h"
#include "engine/query/json/reference_json.h"
#include "engine/spnl/optimize.h"
#include "engine/spnl/server_body.h"
#include "engine/spnl/simplify.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <ostream>
#include <utility>

namespace spanscope::cli {
namespace {

[[noreturn]] void fail(Error problem, const std::string& name) {
  problem.file = name;
  throw Failure(std::move(problem));
}

}  // namespace

void addStageOption(CLI::App& command, std::string& stage) {
  command
      .add_option(
          "--stage", stage,
          "The query as it was read, after one round of the reference's simplify (simplified), after "
          "its whole optimizer (optimized), or one line for each bulk call that the server's endpoint "
          "takes (lowered)")
      ->check(CLI::IsMember({"read", "simplified", "optimized", "lowered"}))
      ->capture_default_str();
}

query::Node localized(const query::Node& query, const plan::LocalityOptions& locality,
                      const std::string& name) {
  if (!locality.isOn()) return query;
  plan::LocalizedQuery result = plan::localizedQuery(query, locality);
  if (!result.query) fail(std::move(result.problems.front()), name);
  return std::move(*result.query);
}

ExitCode refuseCalls(const Outgoing& outgoing, const Streams& streams) {
  streams.err << outgoing.name
              << ": found no generate that can be sent as it is, expected one without replies in it\n";
  return ExitCode::WrongInput;
}

ExitCode writeCalls(const Outgoing& outgoing, const Streams& streams) {
  warnOfTarget(outgoing, streams);
  const spnl::ServerBodies result = spnl::serverBodies(outgoing.query);
  for (const spnl::ServerBody& body : result.bodies) {
    streams.out << query::writeAsReference(body.body) << '\n';
  }
  return result.bodies.empty() ? refuseCalls(outgoing, streams) : ExitCode::Fine;
}

ExitCode writeStage(const Outgoing& outgoing, query::QueryForm form, const Streams& streams) {
  warnOfTarget(outgoing, streams);
  query::Node written = outgoing.query;
  if (outgoing.settings.stage != exports::RewriteStage::Read) {
    spnl::Rewritten result = outgoing.settings.stage == exports::RewriteStage::Simplified
                                 ? spnl::simplifyOnce(std::move(written))
                                 : spnl::optimize(written);
    if (!result.query) fail(std::move(*result.problem), outgoing.name);
    written = std::move(*result.query);
  }
  streams.out << (form == query::QueryForm::Json ? query::writeAsReference(written) + "\n"
                                                 : query::writeQuery(written, form));
  return ExitCode::Fine;
}

}  // namespace spanscope::cli
