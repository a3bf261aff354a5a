// SPDX-License-Identifier: GPL-3.0-or-later
// Forward declarations of CLI11 for headers. The whole of CLI11 takes seconds to compile, so only source
// files include it.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name

class App;
class Option;
class Validator;

}  // namespace CLI
