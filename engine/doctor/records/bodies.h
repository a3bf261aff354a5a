// SPDX-License-Identifier: GPL-3.0-or-later
// Reads bodies of requests of all protocols, and the facts about a request in the record around it. Open this
// file to read another protocol.
#pragma once

#include "engine/doctor/logged_request.h"
#include "engine/doctor/records/answers.h"
#include "engine/doctor/records/json_members.h"

#include <deque>
#include <string>
#include <vector>

namespace spanscope::doctor {

bool isBody(const Json& value);
void readBody(const Json& body, LoggedRequest& request);
/// Finds the body of a request inside of the usual wrappers. Bodies that are texts are kept in `held`.
/// nullptr: there is none.
const Json* bodyIn(const Json& value, std::deque<Json>& held, int depth = 0);

/// Takes the start and the end of the answer from an object around a request. If no start is stated, the time
/// of the request can be its start or its end. The range then contains both cases.
void readRunningTime(const Json& record, LoggedRequest& request);
/// Takes times, conversation, replica, server and usage from an object around a request.
void readFacts(const Json& record, LoggedRequest& request);
/// Returns the server that the headers of a response name, e.g. a proxy's target. Empty: none. `headers`: an
/// object, a list of names and values as in HAR, or nullptr.
std::string serverInHeaders(const Json* headers);
/// Sets the server that answered, unless it is known already.
void noteUpstream(std::string name, LoggedRequest& request);
/// Returns why the server did not answer: "status 400", "an error: The server is busy". The words come from
/// the log, without secrets. Empty: nothing says so. `response` may be null.
std::string failureOf(const Json& record, const Json* response);
void takeAnswer(AnswerReading&& answer, LoggedRequest& request);

/// Adds the request of a record. `body`: the body in the record, or the record itself.
void addRequest(const Json& record, const Json& body, std::vector<LoggedRequest>& requests);

}  // namespace spanscope::doctor
