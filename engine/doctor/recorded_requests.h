// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the requests of a trace that a gateway recorded (spanq serve --upstream … --record).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace spanscope::doctor {

/// Whether a file with this beginning (8 bytes) is a trace.
bool isTrace(std::string_view beginning);

/// Returns the runs on servers as JSON lines, in the form of the gateway's log. The whole trace is in memory.
/// Runs of the embedded engine, and runs of more than one generation step, are left out. Throws Failure if
/// the trace cannot be read.
std::string requestsOfTrace(const std::filesystem::path& path);
std::string requestsOfTrace(std::string_view bytes, const std::string& name);

}  // namespace spanscope::doctor
