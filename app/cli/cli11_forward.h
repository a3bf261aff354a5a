// SPDX-License-Identifier: GPL-3.0-or-later
// The names of CLI11 that headers need: all of it takes seconds to read, and only sources use it.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name

class App;
class Option;
class Validator;

}  // namespace CLI
