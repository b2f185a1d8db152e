#pragma once
// What the page of an optimisation does when one clicks.
#include <string>

namespace regraft::cli {

/// Plain text of JavaScript, without '<' and '&', which asks for nothing from elsewhere. All that
/// the page says can be read without it.
std::string page_script();

}  // namespace regraft::cli
