// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/export_stage.h"

#include "engine/base/error.h"
#include "engine/plan/localized_query.h"
#include "engine/plan/spnl/optimize.h"
#include "engine/plan/spnl/server_body.h"
#include "engine/plan/spnl/simplify.h"
#include "engine/query/json.h"

#include <ostream>
#include <utility>

namespace spanscope::cli {
namespace {

[[noreturn]] void fail(Error problem, const std::string& name) {
  problem.file = name;
  throw Failure(std::move(problem));
}

query::Node localized(const query::Node& query, const plan::LocalityOptions& locality,
                      const std::string& name) {
  if (!locality.isOn()) return query;
  plan::LocalizedQuery result = plan::localizedQuery(query, locality);
  if (!result.query) fail(std::move(result.problems.front()), name);
  return std::move(*result.query);
}

ExitCode writeBodies(const query::Node& query, const std::string& name, const Streams& streams) {
  const plan::spnl::ServerBodies result = plan::spnl::serverBodies(query);
  for (const plan::spnl::ServerBody& body : result.bodies) {
    streams.out << query::writeCanonical(body.body) << '\n';
  }
  noteWithheld(result, name, streams);
  return result.bodies.empty() ? ExitCode::WrongInput : ExitCode::Fine;
}

}  // namespace

void noteWithheld(const plan::spnl::ServerBodies& bodies, const std::string& name, const Streams& streams) {
  for (const plan::spnl::Withheld& withheld : bodies.withheld) {
    streams.err << "note: " << name << ": " << (withheld.node.empty() ? "the root" : withheld.node)
                << " is not written: " << withheld.reason << '\n';
  }
  if (!bodies.bodies.empty()) return;
  streams.err << name
              << ": found no generate that can be sent as it is, expected one without replies in it\n";
}

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

ExitCode writeStage(const query::Node& query, const std::string& stage, query::QueryForm form,
                    const plan::LocalityOptions& locality, const std::string& name, const Streams& streams) {
  query::Node given = localized(query, locality, name);
  if (stage == "lowered") return writeBodies(given, name, streams);
  if (stage != "read") {
    plan::spnl::Rewritten result =
        stage == "simplified" ? plan::spnl::simplifyOnce(std::move(given)) : plan::spnl::optimize(given);
    if (!result.query) fail(std::move(*result.problem), name);
    given = std::move(*result.query);
  }
  streams.out << (form == query::QueryForm::Json ? query::writeCanonical(given) + "\n"
                                                 : query::writeQuery(given, form));
  return ExitCode::Fine;
}

}  // namespace spanscope::cli
