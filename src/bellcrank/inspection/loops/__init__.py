"""The part of ``check`` about closed loops: degrees of freedom, redundancy, singular positions."""
