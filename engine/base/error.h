// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

namespace spanscope {

/// Describes what is wrong with something from outside: a file, a setting, a prompt.
struct Error {
  std::string file;      ///< file or other source; empty if there is none
  std::string place;     ///< where in the file: a JSON pointer, a tensor name, "byte 128"; may be empty
  std::string found;     ///< what stands there
  std::string expected;  ///< what should stand there

  /// One line: "file: place: found X, expected Y", without the empty parts.
  std::string message() const;

  bool operator==(const Error&) const = default;
};

/// An error in something that is not in a file.
inline Error errorAt(std::string place, std::string found, std::string expected) {
  return {.file = {}, .place = std::move(place), .found = std::move(found), .expected = std::move(expected)};
}

/// The one exception type of the engine. It is thrown where bad input or a missing resource makes a result
/// impossible. The function that throws it leaves everything as it was.
class Failure : public std::exception {
 public:
  explicit Failure(Error error) : m_error(std::move(error)), m_message(m_error.message()) {}

  const Error& error() const { return m_error; }
  const char* what() const noexcept override { return m_message.c_str(); }

 private:
  Error m_error;
  std::string m_message;
};

/// Output could not be written, e.g. because its path is wrong or the disk is full. The input is not at
/// fault.
class OutputFailure final : public Failure {
 public:
  using Failure::Failure;
};

/// How much a message matters. Trace files hold the numbers.
enum class Severity : std::uint8_t {
  Note,     ///< worth knowing
  Warning,  ///< advice: the program goes on, but the input probably does not say what its author meant
  Error,    ///< the program refuses the input, or something went wrong
};

}  // namespace spanscope
