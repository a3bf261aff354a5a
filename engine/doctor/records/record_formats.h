// SPDX-License-Identifier: GPL-3.0-or-later
// The forms of records. Open this file to read another form: declare its function here, and add a line to the
// table in request_reading.cpp.
#pragma once

#include "engine/doctor/logged_request.h"
#include "engine/doctor/records/json_members.h"

#include <string>
#include <string_view>
#include <vector>

namespace spanscope::doctor {

// Each function returns whether the object has its form. The object then may still have no request.

/// An entry of a HAR file.
bool readHarEntry(const Json& entry, std::vector<LoggedRequest>& requests);
/// A span of OpenTelemetry (OTLP), or of a program that writes the same attributes.
bool readSpan(const Json& span, std::vector<LoggedRequest>& requests);
/// A request, or an object around a request and its response.
bool readWrapped(const Json& record, std::vector<LoggedRequest>& requests);

/// Reads a command of curl. Returns why there is no request; empty: there is one.
std::string readCurl(std::string_view text, std::vector<LoggedRequest>& requests);

}  // namespace spanscope::doctor
