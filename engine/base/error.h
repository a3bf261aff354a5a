// SPDX-License-Identifier: GPL-3.0-or-later
// Defines errors about input from outside, and the engine's exceptions. Open this file before you report an
// error.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

namespace spanscope {

/// Describes a fault of input from outside: a file, a setting, a prompt.
struct Error {
  std::string file;      ///< file or other source; empty if there is none
  std::string place;     ///< the place in the file: a JSON pointer, a tensor name, "byte 128"; may be empty
  std::string found;     ///< the value at this place
  std::string expected;  ///< the value that belongs there

  /// Returns one line, without the empty parts: "file: place: Spanscope found X, but needs Y".
  std::string message() const;

  bool operator==(const Error&) const = default;
};

/// Returns an error for input that is not a file.
inline Error errorAt(std::string place, std::string found, std::string expected) {
  return {.file = {}, .place = std::move(place), .found = std::move(found), .expected = std::move(expected)};
}

/// The exception type of the engine. A function throws it if bad input or a missing resource makes a result
/// impossible. The function then changes nothing.
class Failure : public std::exception {
 public:
  explicit Failure(Error error) : m_error(std::move(error)), m_message(m_error.message()) {}

  const Error& error() const { return m_error; }
  const char* what() const noexcept override { return m_message.c_str(); }

 private:
  Error m_error;
  std::string m_message;
};

/// Output could not be written, e.g. because its path is wrong or the disk is full. The input has no fault.
class OutputFailure final : public Failure {
 public:
  using Failure::Failure;
};

/// The severity of a message. Trace files store the values of these constants.
enum class Severity : std::uint8_t {
  Note,     ///< information for the user
  Warning,  ///< the program continues, but the input probably does not mean what its author intended
  Error,    ///< the program refuses the input, or an operation failed
};

}  // namespace spanscope
